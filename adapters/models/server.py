"""Servers of models: addresses, providers and their answers, prompts of model families, and an HTTP client."""

import json
import math
import re
import time
from base64 import b64encode
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from hashlib import sha256
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

import httpx2
from tenacity import RetryCallState, Retrying, retry_if_exception, wait_exponential, wait_random

from clawmem.ports.clock import Clock
from clawmem.ports.errors import (
    ConfigError,
    InputRefused,
    InputTooLong,
    ModelAnswerInvalid,
    ModelRefused,
    ModelUnavailable,
)

TRIES = 5
LONGEST_ASKED_S = 300.0  # the longest wait that a server may ask background work for
EXCERPT = 200  # maximum characters of a server's message
FIRST_WAIT_S, LONGEST_WAIT_S = 1.0, 60.0  # between attempts; each is twice as long as the one before
COOL_DOWN_S = 60.0  # without requests after a failed connection
LONGEST_REST_S = 600.0  # one more attempt after ten minutes does no harm, whatever the server asked for
FAIR_S = 0.5  # missing a shorter timeout does not mean that the server is down
FRESH_MS = 60_000  # for which the identity of the served model is not requested again

_TOO_LONG = re.compile(
    r"too large to process|exceeds? the (?:available|maximum) context|maximum context length"
    r"|exceed_context_size|context_length_exceeded|maximum input length|too many tokens",
    re.IGNORECASE,
)
_ALWAYS = frozenset({401, 402, 404, 405})  # refusals of any input; services that moderate it send 400 or 403
_LATER = frozenset({408, 425, 429, 500, 502, 503, 504, 529})
_MEANINGS = {
    401: ", the API key is missing or wrong",
    403: ", the API key may not do this",
    404: ", there is no such model or address",
}
# Fields of llama.cpp's metadata that describe the model file; the context size depends on how the server was started.
_WEIGHTS = ("n_params", "n_vocab", "n_embd", "size", "ftype")

Sleep = Callable[[float], None]
Json = Mapping[str, Any]


# -- addresses, which may contain secrets: user and password, or a key in the query -----------------------


def shown(url: str) -> str:
    """Return *url* without user, password, query and fragment, for display and storage."""
    parts = urlsplit(url.strip())
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


def secrets_in(url: str) -> tuple[str, ...]:
    """Return the secrets in *url*, in every form in which a server could repeat them, longest first."""
    parts = urlsplit(url.strip())
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    token = b64encode(f"{user}:{password}".encode()).decode() if password else ""
    keys = [value for _, value in parse_qsl(parts.query) if len(value) >= 8]  # a shorter one is no key
    return tuple(sorted({token, parts.password or "", password, *keys} - {""}, key=len, reverse=True))


# -- providers: paths, parameter names, limits, and the layout of responses -------------------------------


@dataclass(frozen=True, slots=True)
class Provider:
    """
    API of a model server.

    ``host_mark`` is a part of the provider's host name. It is empty for a local server: llama-server, another server
    with the same API, or llama.cpp in this process. The ``…_fields`` are further fields of a request.
    """

    name: str
    host_mark: str = ""
    embed_path: str = "/v1/embeddings"
    embed_model: str = "embedding"
    embed_dimensions: int = 0  # default dimensions of that model
    texts_name: str = "input"
    dimensions_name: str = ""  # if empty, the API has no such parameter and the client truncates the vectors
    query_fields: Json = field(default_factory=dict)
    document_fields: Json = field(default_factory=dict)
    embed_fields: Json = field(default_factory=dict)
    max_texts: int = 50  # per request
    generate_model: str = "qwen3"
    max_tokens_name: str = "max_tokens"
    rerank_path: str = ""  # if empty, the provider does not rerank
    rerank_model: str = "reranker"
    rerank_fields: Json = field(default_factory=dict)
    count_name: str = "top_n"
    max_documents: int = 100  # per request

    @property
    def is_own_server(self) -> bool:
        """Whether this is a local server, which serves only the model it was started with, and truncates no text."""
        return not self.host_mark


LLAMA_SERVER = Provider(
    "llama-server", embed_fields={"encoding_format": "float"}, max_texts=8,
    rerank_path="/v1/rerank", max_documents=4,
)  # fmt: skip
_OTHERS = (
    Provider(
        "openai", "openai.com", embed_model="text-embedding-3-small", embed_dimensions=1536,
        dimensions_name="dimensions",
        max_tokens_name="max_completion_tokens",
    ),
    Provider(
        "jina", "jina.ai", embed_model="jina-embeddings-v5-text-small", embed_dimensions=1024,
        dimensions_name="dimensions", query_fields={"task": "retrieval.query"},
        document_fields={"task": "retrieval.passage"},
        embed_fields={"truncate": True},
        rerank_path="/v1/rerank", rerank_model="jina-reranker-v3", rerank_fields={"return_documents": False},
    ),
    Provider(
        "voyage", "voyageai.com", embed_model="voyage-4-large", embed_dimensions=1024,
        dimensions_name="output_dimension", query_fields={"input_type": "query"},
        document_fields={"input_type": "document"},
        embed_fields={"truncation": True},
        max_texts=25,  # of at most 120 000 tokens together, and a CJK character may be one token
        rerank_path="/v1/rerank", rerank_model="rerank-2.5", rerank_fields={"truncation": True},
        count_name="top_k",
    ),
    Provider(
        "cohere", "cohere.", "/v2/embed", "embed-v4.0", 1024, "texts",
        dimensions_name="output_dimension", query_fields={"input_type": "search_query"},
        document_fields={"input_type": "search_document"},
        embed_fields={"truncate": "END", "embedding_types": ["float"]},
        rerank_path="/v2/rerank", rerank_model="rerank-v3.5",
    ),
)  # fmt: skip
PROVIDERS = {provider.name: provider for provider in (LLAMA_SERVER, *_OTHERS)}


def provider_for(url: str) -> Provider:
    """Return the provider whose host is in *url*; a local server if there is none."""
    host = (urlsplit(url).hostname or "").lower()
    return next((api for api in PROVIDERS.values() if api.host_mark and api.host_mark in host), LLAMA_SERVER)


def embeddings_in(answer: Json, count: int) -> list[Any]:
    """
    Return the vectors of *count* texts in their order, as they are in the response.

    Raises:
        LookupError, TypeError, ValueError, AttributeError: the response has another structure, as in `scores_in`.
    """
    if "embeddings" not in answer:
        return [entry["embedding"] for entry in _in_order(answer["data"], count)]
    vectors: list[Any] = answer["embeddings"]["float"]
    if len(vectors) != count:
        raise ValueError(f"{len(vectors)} vectors for {count} texts")
    return vectors


def scores_in(answer: Json, count: int) -> list[float]:
    """Return the scores of *count* documents in their order, unscaled. Raises the errors of `embeddings_in`."""
    entries = _in_order(answer["results"] if "results" in answer else answer["data"], count)
    scores = [float(entry.get("relevance_score", entry.get("score"))) for entry in entries]
    if not all(map(math.isfinite, scores)):
        raise ValueError("a score is not finite")
    return scores


def _in_order(entries: list[Json], count: int) -> list[Json]:
    by_index = {entry["index"]: entry for entry in entries}
    if len(entries) != count:
        raise ValueError(f"{len(entries)} entries instead of {count}")
    return [by_index[index] for index in range(count)]


# -- prompts, selected by the name of the model, wherever it runs -----------------------------------------


class Prompts(NamedTuple):
    """Prefixes for queries and for documents, and the name of this pair."""

    name: str
    query: str = ""
    document: str = ""


NO_PROMPTS = Prompts("plain")
_GEMMA = Prompts("gemma", "task: search result | query: ", "title: none | text: ")
_BGE = Prompts("bge", "Represent this sentence for searching relevant passages: ")
_QWEN = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
# The first entry whose key is part of the model's name applies. The prefixes come from the models' own cards.
_PROMPTS = {
    "embeddinggemma": _GEMMA,
    "embedding-gemma": _GEMMA,
    "gemma-embedding": _GEMMA,
    "qwen3-embedding": Prompts("qwen3", _QWEN),
    "nomic-embed": Prompts("nomic", "search_query: ", "search_document: "),
    "multilingual-e5-large-instruct": Prompts("e5-instruct", "Instruct: Retrieve relevant passages\nQuery: "),
    "e5-": Prompts("e5", "query: ", "passage: "),
    "arctic-embed-l-v2": Prompts("arctic-2", "query: "),
    "arctic-embed-m-v2": Prompts("arctic-2", "query: "),
    "arctic-embed": _BGE,
    "mxbai-embed": _BGE,
    "bge-m3": NO_PROMPTS,
    "bge-": _BGE,
}


def prompts_of(model: str) -> Prompts:
    """Return the prompts of a model by its name; empty prompts for an unknown model."""
    folded = model.lower().replace("_", "-").replace(" ", "-")
    return next((prompts for mark, prompts in _PROMPTS.items() if mark in folded), NO_PROMPTS)


# -- requests ---------------------------------------------------------------------------------------------


class ModelIdentity(NamedTuple):
    """
    Identity of the served model.

    ``weights`` is a hash that differs when the weights differ, empty if unknown; ``family`` the text by which prompts
    are selected, and ``dimensions`` the length of its vectors, 0 if it must be measured.
    """

    name: str
    weights: str
    family: str
    dimensions: int = 0

    def __str__(self) -> str:
        return ":".join(filter(None, (self.name, self.weights)))


class Limits:
    """
    Time for one piece of work, which may need several requests; it starts now.

    While a caller waits for the result, *timeout_s* covers all attempts and waits. In *background* work each
    request has the full timeout, and a server may ask for waits of up to five minutes.
    """

    def __init__(self, timeout_s: float, *, background: bool = False) -> None:
        self.background = background
        self.timeout_s = timeout_s
        self._until = time.monotonic() + timeout_s

    def left_s(self) -> float:
        """Return the seconds that the next request may take; zero or negative when the time is over."""
        return self.timeout_s if self.background else self._until - time.monotonic()


class HttpServer:
    """
    Model server over HTTP with persistent connections; thread-safe.

    A busy server is asked again, within the timeout. After a failed connection no question is sent for a minute, or as
    long as the server asks for.
    """

    def __init__(
        self,
        url: str,
        clock: Clock | None,
        provider: Provider,
        name: str,
        *,
        api_key: str | None = None,
        sleep: Sleep = time.sleep,
    ) -> None:
        """
        Create the client without connecting.

        Args:
            url: Address like ``http://localhost:8088``; the path of an endpoint is removed. User, password and query
                are sent with every request.
            clock: Measures the rests between requests; None for a client of one request, which never rests.
            name: Name of the model.

        Raises:
            ConfigError: *api_key* contains invalid characters, or the environment names an invalid proxy or certificate.
        """
        key = (api_key or "").strip()
        if not (key.isascii() and key.isprintable()):
            raise ConfigError("The API key contains invalid characters. Copy it again.")
        root, mark, query = url.strip().partition("?")
        root = root.rstrip("/")
        # Users often copy the path of an endpoint with the address.
        for path in ("/embeddings", "/embed", "/chat/completions", "/rerank", "/reranking", "/v1", "/v2"):
            root = root.removesuffix(path)
        url = root + mark + query
        self.provider = provider
        self.name = name
        self.location = shown(url).rstrip("/")
        self.label = f"{name!r} at {self.location}"
        self.clock = clock
        self._now_ms = clock.now_ms if clock else lambda: 0
        self.sleep = sleep
        self._secrets = [secret for secret in (key, *secrets_in(url)) if secret]
        parts = urlsplit(url)
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        try:
            self._client = httpx2.Client(
                base_url=parts._replace(query="", fragment="").geturl(),
                params=parts.query,
                headers=headers | ({"Authorization": f"Bearer {key}"} if key else {}),
                trust_env=parts.hostname not in ("localhost", "127.0.0.1", "::1"),  # behind no proxy
                # Loading certificates takes longer than a request to a local server, so plain HTTP skips it.
                verify=parts.scheme == "https",
            )
        except (ValueError, OSError, httpx2.InvalidURL):  # the text of the error may contain a password
            raise ConfigError(
                "The proxy or the certificates that the environment names for model servers cannot be used. "
                "Correct HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, SSL_CERT_FILE and SSL_CERT_DIR."
            ) from None
        self._blocked_until_ms, self._reason = 0, ""
        self._identity: ModelIdentity | None = None
        self._identified_ms = 0

    def served(self, limits: Limits) -> ModelIdentity:
        """
        Return the identity of the served model.

        A local server answers with the model it was started with, regardless of the model that a request names,
        and may have been restarted with another one, so it is asked before the first use and again every minute.

        Raises:
            ModelUnavailable: the server must be asked and does not answer within *limits*.
        """
        if not self.provider.is_own_server:
            return ModelIdentity(self.name, "", "")
        if self._identity is None or not 0 <= self._now_ms() - self._identified_ms < FRESH_MS:
            try:
                self._identity = served_in(self._send("GET", "/v1/models", None, limits), self.name)
            except (ModelRefused, ModelAnswerInvalid):
                self._identity = ModelIdentity(self.name, "", self.name)  # not every server has this endpoint
            self._identified_ms = self._now_ms()
        return self._identity

    def post(self, path: str, body: Json, limits: Limits) -> Json:
        """
        Send *body* as JSON and return the JSON object of the response.

        Raises:
            ModelUnavailable: the server is unreachable, busy or too slow; raised at once after a failed connection.
            ModelRefused: the server refuses permanently, with `InputTooLong` if the text is too long.
            ModelAnswerInvalid: the response is not a JSON object.
        """
        # An unpaired surrogate, which a note may contain, becomes a question mark.
        content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        return self._send("POST", path, content, limits)

    def close(self) -> None:
        """Close the connections; later requests fail."""
        self._client.close()

    def _send(self, method: str, path: str, content: bytes | None, limits: Limits) -> Json:
        if limits.left_s() <= 0:
            raise ModelUnavailable(self.label, "no time is left")
        blocked_s = (self._blocked_until_ms - self._now_ms()) / 1000
        # A longer rest means that the clock was set back.
        if not limits.background and 0 < blocked_s <= LONGEST_REST_S:
            raise ModelUnavailable(self.label, self._reason, retry_after_s=blocked_s)
        backoff = wait_exponential(FIRST_WAIT_S, LONGEST_WAIT_S) + wait_random(0, FIRST_WAIT_S / 4)

        def wait(state: RetryCallState) -> float:
            error = state.outcome and state.outcome.exception()
            asked_s = error.retry_after_s if isinstance(error, ModelUnavailable) else None
            return backoff(state) if asked_s is None else asked_s

        attempts = Retrying(
            # An error without a cause is a status; a lost connection has one.
            retry=retry_if_exception(
                lambda error: isinstance(error, ModelUnavailable) and not error.__cause__
            ),
            wait=wait,
            stop=lambda state: (
                state.attempt_number >= TRIES
                or state.upcoming_sleep >= (LONGEST_ASKED_S if limits.background else limits.left_s())
            ),
            sleep=self.sleep,
            reraise=True,
        )
        try:
            answer: Json = attempts(self._attempt, method, path, content, limits)
        except ModelUnavailable as error:
            rest_s = min(error.retry_after_s or 0.0, LONGEST_REST_S)
            self._blocked_until_ms, self._reason = self._now_ms() + round(rest_s * 1000), error.reason
            raise
        return answer

    def _attempt(self, method: str, path: str, content: bytes | None, limits: Limits) -> Json:
        timeout_s = max(0.001, limits.left_s())  # zero would mean no timeout
        try:
            response = self._client.request(method, path, content=content, timeout=timeout_s)
        except (RuntimeError, httpx2.HTTPError) as error:  # RuntimeError: the client was closed
            reason = str(error).strip().rstrip(".") or "the connection broke off"
            if isinstance(error, httpx2.TimeoutException):
                reason = f"no answer within {timeout_s:.2g} seconds"
            rest_s = COOL_DOWN_S if timeout_s >= FAIR_S else None
            raise ModelUnavailable(self.label, reason, retry_after_s=rest_s) from error
        data: Any = None
        with suppress(ValueError, RecursionError):
            data = json.loads(response.content)
        fault = data.get("error") if isinstance(data, dict) else None
        if response.is_success and not fault and isinstance(data, dict):
            return data
        status, message = response.status_code, self._message(response, data)
        if response.is_success and not fault:
            raise ModelAnswerInvalid(self.label, f"it is no JSON object: {message!r}")
        if 300 <= status < 400:
            place = shown(response.headers.get("location", "another address"))
            raise ModelRefused(self.label, f"it redirects to {place!r}")
        if _TOO_LONG.search(message):
            raise InputTooLong(self.label)
        reason = f"HTTP {status}{_MEANINGS.get(status, '')}: {message}".rstrip(": ")
        if status in _LATER:
            wait_s = requested_wait_s(response.headers.get("retry-after", ""), self._now_ms())
            raise ModelUnavailable(self.label, reason, retry_after_s=wait_s)
        raise (ModelRefused if status in _ALWAYS else InputRefused)(self.label, reason)

    def _message(self, response: httpx2.Response, data: Any) -> str:
        """
        Return the message in the JSON *data* of a server, or the beginning of the body.

        Some servers and proxies repeat the rejected key or address, so secrets are replaced by asterisks.
        """
        fields = data if isinstance(data, dict) else {}
        error = fields.get("error") or fields.get("message") or fields.get("detail")
        if isinstance(error, dict):
            error = " ".join(str(error[part]) for part in ("message", "code", "type") if error.get(part))
        text = str(error or response.content.decode("utf-8", "replace"))
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return " ".join(text.split())[:EXCERPT].rstrip(".")


def served_in(answer: Json, name: str) -> ModelIdentity:
    """Return the model of that *name* in the list of a server, or the only listed model."""
    models: dict[str, Any] = {}
    with suppress(LookupError, TypeError, AttributeError):
        models = {entry["id"]: entry.get("meta") for entry in answer["data"] if entry["id"]}
    served = next(iter(models)) if name not in models and len(models) == 1 else name
    meta = models.get(served)
    facts = [meta.get(fact) for fact in _WEIGHTS] if isinstance(meta, dict) else []
    weights = sha256(json.dumps(facts).encode()).hexdigest()[:12] if any(facts) else ""
    if served[0] in "/\\." or served[1:2] == ":":
        # llama.cpp reports the path of the file; the folder is private and does not identify the model.
        served = served.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    return ModelIdentity(served, weights, served)


def requested_wait_s(header: str, now_ms: int) -> float | None:
    """Return the seconds that the *header* ``Retry-After`` names, as a number or a date; None if it names none."""
    with suppress(ValueError, OverflowError):
        return max(0.0, float(int(header)))
    with suppress(ValueError, TypeError):
        return max(0.0, parsedate_to_datetime(header).timestamp() - now_ms / 1000)
    return None
