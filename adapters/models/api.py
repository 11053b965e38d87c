"""Embedder, generator and reranker over a model server of any provider and place."""

import math
import time
from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, ClassVar, NamedTuple, Self, TypeVar
from urllib.parse import urlsplit

import numpy as np

from clawmem.adapters.models.llama import LlamaServer
from clawmem.adapters.models.server import (
    NO_PROMPTS,
    HttpServer,
    Json,
    Limits,
    ModelIdentity,
    Prompts,
    Provider,
    Sleep,
    embeddings_in,
    prompts_of,
    provider_for,
    scores_in,
)
from clawmem.adapters.models.store import EMBED, GENERATE, RERANK
from clawmem.ports.clock import Clock
from clawmem.ports.errors import BadVector, ConfigError, InputTooLong, ModelAnswerInvalid, ModelMismatch
from clawmem.ports.models import GeneratedText, JsonSchema
from clawmem.ports.records import Vector

Result = TypeVar("Result")

# Short, because the request that follows may take as long again while the caller waits for both.
NAMING_TIMEOUT_S = 2.0
QUERY_TIMEOUT_S = 3.0  # shorter than the time for which the retrievers of a search wait for each other
BATCH_TIMEOUT_S = 60.0
MAX_CHARS = 6000  # maximum length of a text sent to a local server
SHORT_DOCUMENT_CHARS = 400  # fits the smallest context that servers are started with
CHARS_PER_TOKEN = 4
SAFETY = 0.85  # share of a rate limit that is used; the provider counts tokens differently
LEAST_GAP_S = 0.5  # between requests; limits on requests are less often documented than limits on tokens

_CUTS = 4  # number of times that a text is halved before giving up
# Models for which llama.cpp already returns the probability of "yes".
_PROBABILITIES = ("qwen3", "zerank")
_STEEPEST = 500.0  # beyond this value exp() overflows, and the score is 0 or 1 anyway


class ApiModel:
    """A model at *server*; no request is sent before the first use."""

    role: ClassVar[str]

    def __init__(self, server: HttpServer | LlamaServer) -> None:
        self.server = server

    @property
    def is_remote(self) -> bool:
        """Whether texts are sent to another machine."""
        host = urlsplit(self.server.location).hostname or "localhost"  # that of a model here is no address
        return host not in ("localhost", "::1") and not host.startswith("127.")

    @classmethod
    def at(
        cls,
        url: str,
        clock: Clock,
        *,
        model: str | None = None,
        api_key: str | None = None,
        provider: Provider | None = None,
        sleep: Sleep = time.sleep,
        **options: Any,
    ) -> Self:
        """
        Return the model behind *url*, with further *options* of the constructor.

        Args:
            model: Name of the model; None for the provider's default.
            provider: The provider; None to detect it by the host.

        Raises:
            ConfigError: the key is invalid, or the provider does not rerank.
        """
        api = provider or provider_for(url)
        if cls.role == RERANK and not api.rerank_path:
            raise ConfigError(f"{api.name} does not rerank. Leave CLAWMEM_RERANK_URL out, or change it.")
        name = model or getattr(api, f"{cls.role}_model")
        return cls(HttpServer(url, clock, api, name, api_key=api_key, sleep=sleep), **options)

    def post(self, path: str, body: Json, limits: Limits, read: Callable[[Json], Result]) -> Result:
        """
        Return the result of *read* for the server's answer to *body* at *path*.

        Raises:
            ModelAnswerInvalid: *read* found another structure. Also the other errors of the server.
        """
        answer = self.server.post(path, {"model": self.server.name, **body}, limits)
        try:
            return read(answer)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise ModelAnswerInvalid(self.server.label, "it has an unexpected structure") from error

    def close(self) -> None:
        """Close the server's connections, or unload the model."""
        self.server.close()


class EmbeddingSpace(NamedTuple):
    """The embedding space of one model: received and stored dimensions, and prompts before texts."""

    served: ModelIdentity
    received: int
    dimensions: int
    prompts: Prompts


class ApiEmbedder(ApiModel):
    """
    ``Embedder`` over a server.

    It is as deterministic as its server. A blank text is never sent (its vector is zero), and a text that is
    too long is shortened until the server accepts it. For a local server, the served model is determined
    before the first use; once the server serves a different model, embedding fails.
    """

    role = EMBED

    def __init__(
        self,
        server: HttpServer | LlamaServer,
        *,
        dimensions: int | None = None,
        max_chars: int = MAX_CHARS,
        tpm_limit: int | None = None,
        query_timeout_s: float = QUERY_TIMEOUT_S,
        batch_timeout_s: float = BATCH_TIMEOUT_S,
    ) -> None:
        """
        Create the embedder without sending a request.

        Args:
            dimensions: Truncates vectors to this length; None for the length of the model.
            max_chars: Maximum length of a text for a local server; providers truncate texts themselves.
            tpm_limit: Rate limit of a provider for documents; None for no limit. Queries never wait.
            query_timeout_s: Time for a query with all its attempts.
            batch_timeout_s: Time for each response while documents are embedded.
        """
        super().__init__(server)
        is_own = server.provider.is_own_server
        self._dimensions = dimensions
        self._max_chars = max_chars if is_own else None
        self._pace = None
        if tpm_limit and isinstance(server, HttpServer) and server.clock and not is_own:
            self._pace = TokenRateLimiter(tpm_limit, server.clock, server.sleep)
        self._query_timeout_s = query_timeout_s
        self._batch_timeout_s = batch_timeout_s
        self._is_background = False
        self._known_space: EmbeddingSpace | None = None

    @property
    def fingerprint(self) -> str:
        space = self._space(self._limits())
        return f"{self.server.provider.name}:{space.served}:{space.prompts.name}:{space.dimensions}"

    @property
    def dimensions(self) -> int:
        return self._space(self._limits()).dimensions

    def for_background(self) -> Self:
        """Return a copy for background work with the same connections; see `clawmem.ports.models.for_background`."""
        other = copy(self)
        other._is_background = True
        return other

    def embed_query(self, text: str) -> Vector:
        return self._embed([text], True, self._limits())[0]

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        limits = Limits(self._batch_timeout_s, background=self._is_background)
        return self._embed(texts, False, limits) if texts else []

    def _limits(self) -> Limits:
        """Return the limits of requests other than documents: those of a query, or of documents for background work."""
        timeout_s = self._batch_timeout_s if self._is_background else self._query_timeout_s
        return Limits(timeout_s, background=self._is_background)

    def _space(self, limits: Limits) -> EmbeddingSpace:
        """Return the space of the served model; raise `ModelMismatch` if the model changed since the first use."""
        served = self.server.served(limits)
        if self._known_space is not None:
            if served != self._known_space.served:
                raise ModelMismatch(str(self._known_space.served), str(served))
            return self._known_space
        provider = self.server.provider
        prompts = prompts_of(served.family) if provider.is_own_server else NO_PROMPTS
        received = served.dimensions
        if provider.dimensions_name and self._dimensions:
            received = self._dimensions
        elif self.server.name == provider.embed_model:
            received = received or provider.embed_dimensions
        if not received:
            (vector,) = self._send(["zlib-1.3.1.tar.gz"], True, limits)
            received = len(unit_vector(vector)) // 4
        dimensions = self._dimensions or received
        if dimensions > received:
            raise BadVector(f"the server sent {received} numbers instead of {dimensions}")
        self._known_space = EmbeddingSpace(served, received, dimensions, prompts)
        return self._known_space

    def _embed(self, texts: Sequence[str], is_query: bool, limits: Limits) -> list[Vector]:
        space, most = self._space(limits), self.server.provider.max_texts
        prompt = space.prompts.query if is_query else space.prompts.document
        sent = [prompt + text[: self._max_chars] for text in texts if text.strip()]
        vectors = (
            unit_vector(vector, space.received, space.dimensions)
            for start in range(0, len(sent), most)
            for vector in self._send_fitting(sent[start : start + most], is_query, limits)
        )
        return [next(vectors) if text.strip() else bytes(4 * space.dimensions) for text in texts]

    def _send_fitting(self, texts: list[str], is_query: bool, limits: Limits, cuts: int = 0) -> list[Any]:
        """Return the vectors of *texts*. If a text is too long, halve the list until it is alone, and then the text."""
        try:
            return self._send(texts, is_query, limits)
        except InputTooLong:
            if len(texts) > 1:
                halves = texts[: len(texts) // 2], texts[len(texts) // 2 :]
                return [raw for half in halves for raw in self._send_fitting(half, is_query, limits)]
            if cuts == _CUTS:
                raise
            return self._send_fitting([texts[0][: len(texts[0]) // 2]], is_query, limits, cuts + 1)

    def _send(self, texts: list[str], is_query: bool, limits: Limits) -> list[Any]:
        provider = self.server.provider
        body: dict[str, Any] = {provider.texts_name: texts, **provider.embed_fields}
        body |= provider.query_fields if is_query else provider.document_fields
        if self._dimensions and provider.dimensions_name:
            body[provider.dimensions_name] = self._dimensions
        if self._pace and not is_query:
            self._pace.wait(sum(map(len, texts)) // CHARS_PER_TOKEN + len(texts))
        return self.post(provider.embed_path, body, limits, lambda answer: embeddings_in(answer, len(texts)))


class ApiGenerator(ApiModel):
    """``Generator`` over a server: one message in, one message out."""

    role = GENERATE

    @property
    def fingerprint(self) -> str:
        served = self.server.served(Limits(NAMING_TIMEOUT_S))
        return f"{self.server.provider.name}:{served}@{self.server.location}"

    def generate(
        self,
        prompt: str,
        *,
        timeout_s: float,
        max_tokens: int,
        temperature: float = 0.0,
        schema: JsonSchema | None = None,
    ) -> str:
        limits = Limits(timeout_s)
        provider = self.server.provider
        body: dict[str, Any] = {"temperature": temperature, provider.max_tokens_name: max_tokens}
        if provider.is_own_server:
            # Reasoning would exceed every time-out: chat templates have a switch against it, and Qwen 3 a word.
            body["chat_template_kwargs"] = {"enable_thinking": False}
            prompt += " /no_think" if "qwen3" in self.server.served(limits).family.lower() else ""
        body["messages"] = [{"role": "user", "content": prompt}]
        if schema is not None:
            shape = {"name": "answer", "schema": dict(schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": shape}

        def read(answer: Json) -> GeneratedText:
            text, usage = answer["choices"][0]["message"]["content"], answer.get("usage") or {}
            if not isinstance(text, str):
                raise TypeError("it holds no message")
            counts = usage.get("prompt_tokens"), usage.get("completion_tokens")
            return GeneratedText(text, *(n if type(n) is int and n >= 0 else None for n in counts))

        return self.post("/v1/chat/completions", body, limits, read)


class ApiReranker(ApiModel):
    """
    ``Reranker`` over a server.

    Equal documents are sent once. Providers return scores from 0 to 1. A local server returns the raw output
    of most models, which the logistic function maps to that range.
    """

    role = RERANK

    @property
    def fingerprint(self) -> str:
        served = self.server.served(Limits(NAMING_TIMEOUT_S))
        scale = "logistic" if self._is_raw(served) else "as-is"
        return f"{self.server.provider.name}:{served}:{scale}"

    def rerank(self, query: str, documents: Sequence[str], *, timeout_s: float) -> list[float]:
        if not documents:
            return []
        limits = Limits(timeout_s)
        is_raw = self._is_raw(self.server.served(limits))
        texts = list(dict.fromkeys(documents))
        scores: list[float] = []
        for start in range(0, len(texts), self.server.provider.max_documents):
            batch = texts[start : start + self.server.provider.max_documents]
            try:
                scores += self._send(query, batch, limits)
            except InputTooLong:
                scores += self._send(query, [text[:SHORT_DOCUMENT_CHARS] for text in batch], limits)
        if is_raw:
            scores = [1 / (1 + math.exp(-max(-_STEEPEST, min(_STEEPEST, score)))) for score in scores]
        score_of = dict(zip(texts, scores, strict=True))
        return [max(0.0, min(1.0, score_of[text])) for text in documents]

    def _send(self, query: str, batch: list[str], limits: Limits) -> list[float]:
        provider = self.server.provider
        body = {"query": query, "documents": batch, provider.count_name: len(batch), **provider.rerank_fields}
        return self.post(provider.rerank_path, body, limits, lambda answer: scores_in(answer, len(batch)))

    def _is_raw(self, served: ModelIdentity) -> bool:
        is_probability = any(mark in served.family.lower() for mark in _PROBABILITIES)
        return self.server.provider.is_own_server and not is_probability


class TokenRateLimiter:
    """Rate limit in tokens per minute for all threads of this process."""

    def __init__(self, tpm_limit: int, clock: Clock, sleep: Sleep) -> None:
        self._ms_per_token = 60_000 / (tpm_limit * SAFETY)
        self._clock = clock
        self._sleep = sleep
        self._free_ms = 0.0

    def wait(self, tokens: int) -> None:
        """Wait until a request of about *tokens* may be sent, and reserve its time."""
        now_ms = self._clock.now_ms()
        start_ms = max(now_ms, self._free_ms)
        self._free_ms = start_ms + max(LEAST_GAP_S * 1000, tokens * self._ms_per_token)
        if start_ms > now_ms:
            self._sleep((start_ms - now_ms) / 1000)


def unit_vector(raw: Any, received: int = 0, dimensions: int | None = None) -> Vector:
    """
    Return a vector of a response, a list of numbers, truncated to *dimensions* and scaled to unit length.

    Zeros stay zeros. Truncation is only valid for models that were trained for it, and then gives the same quality as
    truncation by the provider.

    Raises:
        BadVector: *raw* is no list, holds no *received* numbers (0 for any number), or one that is not finite.
    """
    try:
        numbers = np.array(raw, np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        raise BadVector("the server sent no list of numbers") from error
    if numbers.ndim > 1:
        raise BadVector("the server sent one vector per token; start it with another --pooling")
    if not numbers.shape or not np.isfinite(np.linalg.norm(numbers)):
        raise BadVector("the server sent a value that is not a finite number")  # NaN is sent as null
    if received and len(numbers) != received:
        raise BadVector(f"the server sent {len(numbers)} numbers instead of {received}")
    beginning = numbers[:dimensions]
    return (beginning / (np.linalg.norm(beginning) or 1.0)).astype("<f4").tobytes()
