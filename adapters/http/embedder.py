from __future__ import annotations

import math
import struct
from base64 import b64decode
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

from clawmem.adapters.http.providers import (
    Provider,
    TextRole,
    charged_tokens,
    embeddings_in,
    provider_at,
    provider_named,
    server_root,
)
from clawmem.adapters.http.rate_limit import TokenRateLimiter, estimated_tokens
from clawmem.adapters.http.retry import EMBEDDING, QUESTION, Limits, deadline, per_request
from clawmem.adapters.http.served_model import ModelIdentity, ServedModelQuery
from clawmem.adapters.http.transport import Json, Transport
from clawmem.ports.clock import Clock
from clawmem.ports.errors import BadVector, InputTooLong, ModelAnswerInvalid, ModelMismatch
from clawmem.ports.model_profiles import NONE, Prompts, prompts_of
from clawmem.ports.records import Vector

MAX_CHARS = 6000  # maximum length of a text sent to a local server
QUERY_TIMEOUT_S = 3.0  # shorter than the time for which the retrievers of a search wait for each other
BATCH_TIMEOUT_S = 60.0

_CUTS = 4  # number of times that a text is shortened before giving up
_CUT_MARGIN = 0.9  # tokens are not spread evenly over a text
# These texts share no word. A server that returns the same vector for all of them does not compute vectors.
_CANARIES = ("The bees left the hive at noon.", "Income tax is due in April.", "zlib-1.3.1.tar.gz")


@dataclass(frozen=True, slots=True)
class EmbeddingSpace:
    """The embedding space of one model: fingerprint, received and stored dimensions, and prompts before texts."""

    fingerprint: str
    served: ModelIdentity
    sent: int
    kept: int
    prompts: Prompts


class HttpEmbedder:
    """
    ``Embedder`` behind HTTP.

    It is as deterministic as its server. A blank text is never sent (its vector is zero), and a text that is
    too long is shortened until the server accepts it. For a local server, the served model is determined
    before the first use; once the server serves a different model, embedding fails.
    """

    def __init__(
        self,
        transport: Transport,
        provider: Provider,
        *,
        model: str,
        dimensions: int | None = None,
        max_chars: int = MAX_CHARS,
        pace: TokenRateLimiter | None = None,
        query_timeout_s: float = QUERY_TIMEOUT_S,
        batch_timeout_s: float = BATCH_TIMEOUT_S,
    ) -> None:
        """
        Create the embedder without sending a request.

        Args:
            model: Name of the model at the provider.
            dimensions: Truncates vectors to this length; None for the length of the model.
            max_chars: Maximum length of a text for a local server; providers truncate texts themselves.
            pace: Rate limit for documents; queries never wait.
            query_timeout_s: Time for a query with all its attempts.
            batch_timeout_s: Time for each response while documents are embedded.
        """
        self._transport = transport
        self._provider = provider
        self._model = model
        self._asked_dimensions = dimensions
        self._max_chars = max_chars
        self._pace = pace
        self._query_timeout_s = query_timeout_s
        self._batch_timeout_s = batch_timeout_s
        self._is_background = False
        self._served = ServedModelQuery(transport, model, is_named=not provider.is_own_server)
        self._known: EmbeddingSpace | None = None

    @property
    def fingerprint(self) -> str:
        return self._space(self._limits()).fingerprint

    @property
    def dimensions(self) -> int:
        return self._space(self._limits()).kept

    def for_background(self) -> HttpEmbedder:
        """
        Return a copy for background work, which shares connections and pace; see
        `clawmem.ports.embedder.for_background`.
        """
        other = copy(self)
        other._is_background = True
        return other

    def embed_query(self, text: str) -> Vector:
        limits = self._limits()
        space = self._space(limits)
        if not text.strip():
            return bytes(4 * space.kept)
        prepared = self._prepared(space.prompts.query, text)
        return self._vectors([prepared], TextRole.QUERY, space, limits)[0]

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        if not texts:
            return []
        limits = self._document_limits()
        space = self._space(limits)
        vectors = [bytes(4 * space.kept)] * len(texts)
        places = [place for place, text in enumerate(texts) if text.strip()]
        prepared = [self._prepared(space.prompts.document, texts[place]) for place in places]
        for place, vector in zip(places, self._in_batches(prepared, space, limits), strict=True):
            vectors[place] = vector
        return vectors

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def _limits(self) -> Limits:
        """Return the limits of requests other than documents: those of a query, or of documents for background work."""
        if self._is_background:
            return self._document_limits()
        return Limits(deadline(self._query_timeout_s), QUESTION)

    def _document_limits(self) -> Limits:
        return Limits(per_request(self._batch_timeout_s), EMBEDDING if self._is_background else QUESTION)

    def _space(self, limits: Limits) -> EmbeddingSpace:
        """
        Return the embedding space of the served model; raise `ModelMismatch` if the model changed since the
        first use.
        """
        served = self._served(limits.left(), limits.policy)
        known = self._known = self._known or self._describe_space(served, limits)
        if served != known.served:
            raise ModelMismatch(str(known.served), str(served))
        return known

    def _describe_space(self, served: ModelIdentity, limits: Limits) -> EmbeddingSpace:
        prompts = prompts_of(served.name) if self._provider.is_own_server else NONE
        sent = self._known_dimensions() or self._measure_dimensions(prompts, limits)
        kept = self._asked_dimensions or sent
        if kept > sent:
            raise BadVector(f"the server sent {sent} numbers instead of {kept}")
        name = f"{self._provider.name}:{served}:{prompts.name}:{kept}"
        return EmbeddingSpace(name, served, sent, kept, prompts)

    def _known_dimensions(self) -> int:
        if self._provider.dimensions_name and self._asked_dimensions:
            return self._asked_dimensions
        return self._provider.embed_dimensions if self._model == self._provider.embed_model else 0

    def _measure_dimensions(self, prompts: Prompts, limits: Limits) -> int:
        """Determine the length of the vectors with texts that also show whether the server computes vectors."""
        texts = [prompts.document + text for text in _CANARIES]
        found = [numbers_of(raw) for raw in self._send(texts, TextRole.QUERY, limits)]
        refuse_constant(_CANARIES, [unit_vector(numbers, len(numbers)) for numbers in found])
        return len(found[0])

    def _prepared(self, prompt: str, text: str) -> str:
        return prompt + (text[: self._max_chars] if self._provider.is_own_server else text)

    def _in_batches(self, texts: Sequence[str], space: EmbeddingSpace, limits: Limits) -> Iterator[Vector]:
        for batch in _batches(texts, self._provider):
            vectors = self._vectors(batch, TextRole.DOCUMENT, space, limits)
            refuse_constant(batch, vectors)
            yield from vectors

    def _vectors(
        self, texts: list[str], role: TextRole, space: EmbeddingSpace, limits: Limits
    ) -> list[Vector]:
        return [self._vector(raw, space) for raw in self._accepted(texts, role, limits)]

    def _vector(self, raw: object, space: EmbeddingSpace) -> Vector:
        numbers = numbers_of(raw)
        if len(numbers) != space.sent:
            raise BadVector(f"the server sent {len(numbers)} numbers instead of {space.sent}")
        return unit_vector(numbers, space.kept)

    def _accepted(self, texts: list[str], role: TextRole, limits: Limits, cuts: int = 0) -> list[object]:
        """Return the vectors of *texts*. If a text is too long, halve the list until it is alone, and shorten it."""
        try:
            return self._send(texts, role, limits)
        except InputTooLong as error:
            if len(texts) > 1:
                halves = texts[: len(texts) // 2], texts[len(texts) // 2 :]
                return [raw for half in halves for raw in self._accepted(half, role, limits)]
            if cuts == _CUTS:
                raise
            return self._accepted([_shortened(texts[0], error)], role, limits, cuts + 1)

    def _send(self, texts: list[str], role: TextRole, limits: Limits) -> list[object]:
        body = self._provider.embed_body(texts, role, self._model, self._asked_dimensions)
        answer = self._paced(body, estimated_tokens(texts), role, limits)
        try:
            found = embeddings_in(answer)
        except ValueError as error:
            raise ModelAnswerInvalid(self._transport.label, str(error)) from error
        if len(found) != len(texts):
            reason = f"{len(found)} vectors for {len(texts)} texts"
            raise ModelAnswerInvalid(self._transport.label, reason)
        return found

    def _paced(self, body: Json, tokens: int, role: TextRole, limits: Limits) -> Json:
        path, pace = self._provider.embed_path, self._pace
        if role is TextRole.DOCUMENT and pace:
            pace.wait(tokens)
        answer = self._transport.post(path, body, timeout_s=limits.left(), policy=limits.policy)
        if pace and role is TextRole.DOCUMENT:
            pace.settle(tokens, charged_tokens(answer, tokens))
        elif pace:
            pace.charge(charged_tokens(answer, tokens))
        return answer


def http_embedder(
    url: str,
    clock: Clock,
    *,
    model: str | None = None,
    api_key: str | None = None,
    provider: str | None = None,
    dimensions: int | None = None,
    max_chars: int = MAX_CHARS,
    tokens_per_minute: int | None = None,
) -> HttpEmbedder:
    """
    Return an embedder for the server at *url*.

    Args:
        model: None for the provider's default.
        provider: Name of the provider; None to detect it by the host of *url*, with a local server as the
            default.
        tokens_per_minute: Rate limit for documents; None for no limit.

    Raises:
        ConfigError: the address, provider or key is invalid.
    """
    chosen = provider_named(provider) if provider else provider_at(url)
    name = model or chosen.embed_model or "embedding"
    transport = Transport(server_root(url), model=name, clock=clock, api_key=api_key)
    pace = (
        TokenRateLimiter(tokens_per_minute, clock) if tokens_per_minute and not chosen.is_own_server else None
    )
    return HttpEmbedder(
        transport, chosen, model=name, dimensions=dimensions or None, max_chars=max_chars, pace=pace
    )


def _batches(texts: Sequence[str], provider: Provider) -> Iterator[list[str]]:
    """Group consecutive texts into batches within the limits of one request."""
    batch: list[str] = []
    chars = 0
    for text in texts:
        if batch and (len(batch) == provider.max_texts or chars + len(text) > provider.max_request_chars):
            yield batch
            batch, chars = [], 0
        batch.append(text)
        chars += len(text)
    if batch:
        yield batch


def _shortened(text: str, error: InputTooLong) -> str:
    """
    Return a beginning of *text* that should fit: proportional to the overrun if the server reported it, else
    half.
    """
    share = error.limit / error.tokens if error.limit and error.tokens else 0.5
    return text[: max(1, int(len(text) * min(share, 1.0) * _CUT_MARGIN))]


_LARGEST = 1e100  # beyond this value the length of a vector may overflow

# a model may give two texts the same vector, but three different texts with one vector are no coincidence
ENOUGH_TEXTS = 3


def numbers_of(raw: Any) -> list[float]:
    """
    Return the numbers of a vector in a response: a list, or base64 of little-endian float32.

    Raises:
        BadVector: *raw* is neither, or one of the numbers is not finite.
    """
    numbers = _decoded(raw) if isinstance(raw, str) else raw
    if not isinstance(numbers, list) or not numbers:
        raise BadVector("the server sent neither a list of numbers nor base64")
    if isinstance(numbers[0], list):
        raise BadVector("the server sent one vector per token; start it with another --pooling")
    if not all(type(number) in (int, float) and abs(number) <= _LARGEST for number in numbers):
        raise BadVector("the server sent a value that is not a finite number")  # NaN is sent as null
    return numbers


def unit_vector(numbers: Sequence[float], dimensions: int) -> Vector:
    """
    Return *numbers* truncated to *dimensions* and scaled to unit length; a zero vector stays zero.

    Truncation is only valid for models that were trained for it, and then gives the same quality as
    truncation by the provider.
    """
    kept = numbers[:dimensions]
    length = math.hypot(*kept) or 1.0
    return struct.pack(f"<{dimensions}f", *(number / length for number in kept))


def refuse_constant(texts: Sequence[str], vectors: Sequence[Vector]) -> None:
    """
    Raise an error if a server gives different texts the same vector.

    Raises:
        BadVector: three or more different texts have the same vector, so the server does not compute vectors.
    """
    different = {"".join(filter(str.isalnum, text.casefold())) for text in texts}
    if len(different) >= ENOUGH_TEXTS and len(set(vectors)) == 1 and any(vectors[0]):
        raise BadVector("the server sent the same vector for different texts")


def _decoded(text: str) -> list[float]:
    try:
        raw = b64decode(text, validate=True)
        return list(struct.unpack(f"<{len(raw) // 4}f", raw))
    except (ValueError, struct.error) as error:
        raise BadVector("the server sent invalid base64 of float32 numbers") from error
