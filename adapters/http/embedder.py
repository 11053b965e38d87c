from __future__ import annotations

import math
import struct
import time
from base64 import b64decode
from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any, NamedTuple

from clawmem.adapters.http.limits import Limits, Sleep, TokenRateLimiter
from clawmem.adapters.http.model import HttpModel, ModelIdentity
from clawmem.adapters.http.providers import TextRole, charged_tokens, embeddings_in, provider_for
from clawmem.ports.clock import Clock
from clawmem.ports.errors import BadVector, InputTooLong, ModelAnswerInvalid, ModelMismatch
from clawmem.ports.model_profiles import NONE, Prompts, prompts_of
from clawmem.ports.records import Vector

MAX_CHARS = 6000  # maximum length of a text sent to a local server
QUERY_TIMEOUT_S = 3.0  # shorter than the time for which the retrievers of a search wait for each other
BATCH_TIMEOUT_S = 60.0
CHARS_PER_TOKEN = 4

_CUTS = 4  # number of times that a text is shortened before giving up
_CUT_MARGIN = 0.9  # tokens are not spread evenly over a text
_LARGEST = 1e100  # beyond this value the length of a vector may overflow
# These texts share no word. A server that returns the same vector for all of them does not compute vectors.
_CANARIES = ("The bees left the hive at noon.", "Income tax is due in April.", "zlib-1.3.1.tar.gz")
# A model may give two texts the same vector, but three different texts with one vector are no coincidence.
ENOUGH_TEXTS = 3


class EmbeddingSpace(NamedTuple):
    """The embedding space of one model: fingerprint, received and stored dimensions, and prompts before texts."""

    fingerprint: str
    served: ModelIdentity
    received: int
    dimensions: int
    prompts: Prompts


class HttpEmbedder(HttpModel):
    """
    ``Embedder`` behind HTTP.

    It is as deterministic as its server. A blank text is never sent (its vector is zero), and a text that is
    too long is shortened until the server accepts it. For a local server, the served model is determined
    before the first use; once the server serves a different model, embedding fails.
    """

    def __init__(
        self,
        url: str,
        clock: Clock,
        *,
        model: str | None = None,
        api_key: str | None = None,
        provider: str | None = None,
        dimensions: int | None = None,
        max_chars: int = MAX_CHARS,
        tokens_per_minute: int | None = None,
        query_timeout_s: float = QUERY_TIMEOUT_S,
        batch_timeout_s: float = BATCH_TIMEOUT_S,
        sleep: Sleep = time.sleep,
    ) -> None:
        """
        Create the embedder without sending a request.

        Args:
            model: Name of the model at the provider; None for the provider's default.
            provider: Name of the provider; None to detect it by the host of *url*, with a local server as the
                default.
            dimensions: Truncates vectors to this length; None for the length of the model.
            max_chars: Maximum length of a text for a local server; providers truncate texts themselves.
            tokens_per_minute: Rate limit for documents; None for no limit. Queries never wait.
            query_timeout_s: Time for a query with all its attempts.
            batch_timeout_s: Time for each response while documents are embedded.

        Raises:
            ConfigError: the address, provider or key is invalid.
        """
        api = provider_for(url, provider)
        super().__init__(url, clock, api, model or api.embed_model or "embedding", api_key, sleep)
        self._dimensions = dimensions or None
        self._max_chars = max_chars
        self._pace = None
        if tokens_per_minute and not api.is_own_server:
            self._pace = TokenRateLimiter(tokens_per_minute, clock, sleep=sleep)
        self._query_timeout_s = query_timeout_s
        self._batch_timeout_s = batch_timeout_s
        self._is_background = False
        self._known_space: EmbeddingSpace | None = None

    @property
    def fingerprint(self) -> str:
        return self._space(self._limits()).fingerprint

    @property
    def dimensions(self) -> int:
        return self._space(self._limits()).dimensions

    def for_background(self) -> HttpEmbedder:
        """
        Return a copy for background work, which shares connections and pace; see
        `clawmem.ports.models.for_background`.
        """
        other = copy(self)
        other._is_background = True
        return other

    def embed_query(self, text: str) -> Vector:
        limits = self._limits()
        return self._embed([text], TextRole.QUERY, self._space(limits), limits)[0]

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        if not texts:
            return []
        limits = self._document_limits()
        return self._embed(texts, TextRole.DOCUMENT, self._space(limits), limits)

    def _limits(self) -> Limits:
        """Return the limits of requests other than documents: those of a query, or of documents for background work."""
        return self._document_limits() if self._is_background else Limits(self._query_timeout_s)

    def _document_limits(self) -> Limits:
        return Limits(self._batch_timeout_s, background=self._is_background)

    def _space(self, limits: Limits) -> EmbeddingSpace:
        """
        Return the embedding space of the served model; raise `ModelMismatch` if the model changed since the
        first use.
        """
        served = self.served(limits)
        if self._known_space is None:
            self._known_space = self._describe_space(served, limits)
        if served != self._known_space.served:
            raise ModelMismatch(str(self._known_space.served), str(served))
        return self._known_space

    def _describe_space(self, served: ModelIdentity, limits: Limits) -> EmbeddingSpace:
        provider = self._provider
        prompts = prompts_of(served.name) if provider.is_own_server else NONE
        received = provider.embed_dimensions if self._name == provider.embed_model else 0
        if provider.dimensions_name and self._dimensions:
            received = self._dimensions
        if not received:  # measured with texts that also show whether the server computes vectors
            texts = [prompts.document + text for text in _CANARIES]
            numbers = [numbers_of(raw) for raw in self._send(texts, TextRole.QUERY, limits)]
            refuse_constant(_CANARIES, [unit_vector(vector, len(vector)) for vector in numbers])
            received = len(numbers[0])
        dimensions = self._dimensions or received
        if dimensions > received:
            raise BadVector(f"the server sent {received} numbers instead of {dimensions}")
        name = f"{provider.name}:{served}:{prompts.name}:{dimensions}"
        return EmbeddingSpace(name, served, received, dimensions, prompts)

    def _embed(
        self, texts: Sequence[str], role: TextRole, space: EmbeddingSpace, limits: Limits
    ) -> list[Vector]:
        prompt = space.prompts.query if role is TextRole.QUERY else space.prompts.document
        longest = self._max_chars if self._provider.is_own_server else None
        prepared = [prompt + text[:longest] for text in texts if text.strip()]
        computed: list[Vector] = []
        for batch in self._batches(prepared):
            vectors = []
            for raw in self._send_fitting(batch, role, limits):
                numbers = numbers_of(raw)
                if len(numbers) != space.received:
                    raise BadVector(f"the server sent {len(numbers)} numbers instead of {space.received}")
                vectors.append(unit_vector(numbers, space.dimensions))
            refuse_constant(batch, vectors)
            computed += vectors
        remaining = iter(computed)
        return [next(remaining) if text.strip() else bytes(4 * space.dimensions) for text in texts]

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        """Group consecutive texts into batches within the limits of one request."""
        batch: list[str] = []
        for text in texts:
            chars = sum(map(len, batch)) + len(text)
            if batch and (len(batch) == self._provider.max_texts or chars > self._provider.max_request_chars):
                yield batch
                batch = []
            batch.append(text)
        if batch:
            yield batch

    def _send_fitting(self, texts: list[str], role: TextRole, limits: Limits, cuts: int = 0) -> list[Any]:
        """Return the vectors of *texts*. If a text is too long, halve the list until it is alone, and shorten it."""
        try:
            return self._send(texts, role, limits)
        except InputTooLong as error:
            if len(texts) > 1:
                halves = texts[: len(texts) // 2], texts[len(texts) // 2 :]
                return [raw for half in halves for raw in self._send_fitting(half, role, limits)]
            if cuts == _CUTS:
                raise
            share = error.limit / error.tokens if error.limit and error.tokens else 0.5
            shortened = texts[0][: max(1, int(len(texts[0]) * min(share, 1.0) * _CUT_MARGIN))]
            return self._send_fitting([shortened], role, limits, cuts + 1)

    def _send(self, texts: list[str], role: TextRole, limits: Limits) -> list[Any]:
        body = self._provider.embed_body(texts, role, self._name, self._dimensions)
        tokens = sum(map(len, texts)) // CHARS_PER_TOKEN + len(texts)
        reserved = tokens if self._pace and role is TextRole.DOCUMENT else 0
        if self._pace and reserved:
            self._pace.wait(reserved)
        answer = self._transport.post(self._provider.embed_path, body, limits)
        if self._pace:
            self._pace.charge(charged_tokens(answer, tokens) - reserved)
        try:
            vectors = embeddings_in(answer)
            if len(vectors) != len(texts):
                raise ValueError(f"{len(vectors)} vectors for {len(texts)} texts")
        except ValueError as error:
            raise ModelAnswerInvalid(self._transport.label, str(error)) from error
        return vectors


def numbers_of(raw: Any) -> list[float]:
    """
    Return the numbers of a vector in a response: a list, or base64 of little-endian float32.

    Raises:
        BadVector: *raw* is neither, or one of the numbers is not finite.
    """
    if isinstance(raw, str):
        try:
            content = b64decode(raw, validate=True)
            raw = list(struct.unpack(f"<{len(content) // 4}f", content))
        except (ValueError, struct.error) as error:
            raise BadVector("the server sent invalid base64 of float32 numbers") from error
    if not isinstance(raw, list) or not raw:
        raise BadVector("the server sent neither a list of numbers nor base64")
    if isinstance(raw[0], list):
        raise BadVector("the server sent one vector per token; start it with another --pooling")
    if not all(type(number) in (int, float) and abs(number) <= _LARGEST for number in raw):
        raise BadVector("the server sent a value that is not a finite number")  # NaN is sent as null
    return raw


def unit_vector(numbers: Sequence[float], dimensions: int) -> Vector:
    """
    Return *numbers* truncated to *dimensions* and scaled to unit length; a zero vector stays zero.

    Truncation is only valid for models that were trained for it, and then gives the same quality as
    truncation by the provider.
    """
    beginning = numbers[:dimensions]
    length = math.hypot(*beginning) or 1.0
    return struct.pack(f"<{dimensions}f", *(number / length for number in beginning))


def refuse_constant(texts: Sequence[str], vectors: Sequence[Vector]) -> None:
    """
    Raise an error if a server gives different texts the same vector.

    Raises:
        BadVector: three or more different texts have the same vector, so the server does not compute vectors.
    """
    different = {"".join(filter(str.isalnum, text.casefold())) for text in texts}
    if len(different) >= ENOUGH_TEXTS and len(set(vectors)) == 1 and any(vectors[0]):
        raise BadVector("the server sent the same vector for different texts")
