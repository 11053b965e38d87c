"""GGUF models that llama.cpp runs in this process, without a server (package ``xllamacpp``)."""

from __future__ import annotations

import atexit
import math
import mmap
import re
import struct
import time
import weakref
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from secrets import token_hex
from threading import Event, Timer
from typing import Any, Protocol, TypeVar, cast

from clawmem.adapters.models.store import ModelFolder
from clawmem.ports.errors import (
    BadVector,
    ConfigError,
    ExtraMissing,
    InputTooLong,
    ModelAnswerInvalid,
    ModelRefused,
    ModelUnavailable,
)
from clawmem.ports.model_profiles import Prompts, prompts_of, without_thoughts
from clawmem.ports.models import JsonSchema
from clawmem.ports.records import Vector

MODEL = "model.gguf"
EMBED, GENERATE, RERANK = "embed", "generate", "rerank"
IDLE_S = 120.0
MAX_CHARS = 6000  # maximum length of an embedded text
MAX_DOCUMENT_CHARS = 4000  # maximum length of a reranked text
QUERY_TIMEOUT_S = 10.0  # includes loading the model
TEXT_TIMEOUT_S = 60.0  # per document

# Tokens per request. The context takes its memory in full even if it is not used: 470 MB for the generator.
_MOST_TOKENS = {EMBED: 2048, RERANK: 2048, GENERATE: 4096}
_SILENT = -1
_CUTS = 4  # number of times that a text is shortened before giving up
_CUT_MARGIN = 0.9  # tokens are not spread evenly over a text
_EXCERPT = 200
_STEEPEST = 500.0  # beyond this value exp() overflows, and the score is 0 or 1 anyway
_PROBABILITIES = "qwen3"  # the architecture for which llama.cpp returns the probability of "yes" against "no"
_WITHOUT_IT = "Do without such models (CLAWMEM_NO_LOCAL_MODELS=1)"
_TOKEN_COUNTS = re.compile(
    r"\((?P<tokens>\d+) tokens\).{0,300}?(?:batch size: |context size \()(?P<limit>\d+)", re.DOTALL
)

Result = TypeVar("Result")
Json = dict[str, Any]
IsCancelled = Callable[[], bool]
"""Whether the caller has stopped waiting for the result."""


class Llama(Protocol):
    """The used part of ``xllamacpp.Server``; requests and responses are those of llama.cpp's own server."""

    def handle_embeddings(self, prompt: Json) -> Json:
        """Return vectors of texts."""

    def handle_rerank(self, prompt: Json) -> Json:
        """Return scores of documents."""

    def handle_chat_completions(self, prompt: Json, callback: Callable[[Json], bool]) -> None:
        """Generate a message piece by piece; the callback stops it by returning True."""

    def handle_metrics(self) -> bytes:
        """Return statistics of the server."""


class LlamaModel:
    """
    A model that is loaded for the first request and unloaded after *idle_s* seconds without requests.

    One thread runs llama.cpp, one request at a time. A caller waits for at most its timeout. Its request is
    then removed from the queue or, if it is being processed, ends with the current step, which is one generated
    token or one text. A step cannot be interrupted; the next request waits until it ends.
    """

    role = ""

    def __init__(
        self, folder: ModelFolder, *, idle_s: float = IDLE_S, download: Callable[[], None] | None = None
    ) -> None:
        """
        Prepare the model without loading it.

        Args:
            download: Installs the model before its first use if it is missing; None if that is not permitted.

        Raises:
            ConfigError: the model is not installed and may not be downloaded.
            ExtraMissing: llama.cpp is not installed.
        """
        require_llama()
        self.label = f"{folder.name!r} in this process"
        self._folder = folder
        self._download = download
        self._idle_s = idle_s
        self._closing = Event()
        self._threads = ThreadPoolExecutor(1, thread_name_prefix=folder.name)
        self._llama: Llama | None = None
        self._used_s = 0.0
        if download is None:
            folder.manifest()
        _MODELS.add(self)

    @property
    def is_loaded(self) -> bool:
        """Whether the model is in memory."""
        return self._llama is not None

    @property
    def facts(self) -> Mapping[str, Any]:
        """Facts about the model file; downloads it first if it is missing and may be downloaded."""
        if self._download is not None and not self._folder.is_there():
            self._download()
        return self._folder.manifest().facts

    @property
    def weights(self) -> str:
        """Beginning of the checksum of the model file."""
        return self._folder.manifest().files[MODEL][:12] if self.facts else ""

    def ask(self, work: Callable[[Llama, IsCancelled], Result], *, timeout_s: float) -> Result:
        """
        Return the result of *work*, a function of the loaded model that checks between its steps whether it is
        cancelled.

        Raises:
            ModelUnavailable: the work takes longer than *timeout_s*, or *timeout_s* is not positive.
            ConfigError: the model cannot be loaded.
        """
        if timeout_s <= 0:
            raise self.unavailable("no time is left")
        cancelled = Event()
        try:
            future = self._threads.submit(
                self._run, work, lambda: cancelled.is_set() or self._closing.is_set()
            )
        except RuntimeError as error:
            raise self.unavailable("it was closed") from error
        try:
            return future.result(timeout_s)
        except CancelledError as error:
            raise self.unavailable("it was closed") from error
        except TimeoutError:
            cancelled.set()
            future.cancel()
            raise self.unavailable(f"it was not done in {timeout_s:.3g} s") from None

    def close(self) -> None:
        """Unload the model after the current step. Later requests fail."""
        self._closing.set()
        self._threads.shutdown(cancel_futures=True)
        self._llama = None

    def unavailable(self, reason: str) -> ModelUnavailable:
        """Return the error for a model that cannot answer now; its remedy does not mention a server."""
        return ModelUnavailable(self.label, reason, remedy=_WITHOUT_IT)

    def checked(self, answer: Json) -> Json:
        """
        Return *answer* unless it is an error.

        Raises:
            InputTooLong: the text does not fit the context.
            ModelUnavailable: the error is temporary.
            ModelRefused: the error is permanent.
        """
        error = answer.get("error")
        if not error:
            return answer
        details = error if isinstance(error, dict) else {"message": str(error)}
        message = " ".join(str(details.get("message", "")).split())[:_EXCERPT].rstrip(".")
        if counts := _TOKEN_COUNTS.search(message):
            raise InputTooLong(self.label, tokens=int(counts["tokens"]), limit=int(counts["limit"]))
        if details.get("type") == "exceed_context_size_error":
            raise InputTooLong(self.label)
        if details.get("code") in (500, 503):
            raise self.unavailable(message)
        raise ModelRefused(self.label, message, remedy="Check it with: clawmem doctor")

    def _run(self, work: Callable[[Llama, IsCancelled], Result], is_cancelled: IsCancelled) -> Result:
        if self._closing.is_set():
            raise self.unavailable("it was closed")
        if self._llama is None:
            self._llama = load(self._folder.path / MODEL, self.role, self.facts.get("context", 0))
            self._start_timer(self._idle_s)
        try:
            return work(self._llama, is_cancelled)
        finally:
            self._used_s = time.monotonic()

    def _start_timer(self, seconds: float) -> None:
        def expire() -> None:
            if not self._closing.is_set():
                self._threads.submit(self._unload_if_idle)

        timer = Timer(seconds, expire)
        timer.daemon = True
        timer.start()

    def _unload_if_idle(self) -> None:
        remaining_s = self._used_s + self._idle_s - time.monotonic()
        if remaining_s > 0:
            self._start_timer(remaining_s)
        else:
            self._llama = None


class LlamaEmbedder(LlamaModel):
    """
    ``Embedder`` in this process.

    Each text is computed separately, so that its vector depends on nothing but the text, and so that a query
    does not wait for a long batch of documents. A text that is too long for the model is shortened until it
    fits.
    """

    role = EMBED

    @property
    def fingerprint(self) -> str:
        return f"llama.cpp:{self._folder.name}:{self.weights}:{self._prompts.name}:{self.dimensions}"

    @property
    def dimensions(self) -> int:
        return int(self.facts["dimensions"])

    def embed_query(self, text: str) -> Vector:
        return self._vector(self._prompts.query, text, QUERY_TIMEOUT_S)

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        return [self._vector(self._prompts.document, text, TEXT_TIMEOUT_S) for text in texts]

    @property
    def _prompts(self) -> Prompts:
        return prompts_of(f"{self.facts['architecture']} {self.facts['title']}")

    def _vector(self, prompt: str, text: str, timeout_s: float) -> Vector:
        dimensions = self.dimensions
        if not text.strip():
            return bytes(4 * dimensions)

        def embed(llama: Llama, beginning: str) -> Vector:
            body = {"input": beginning, "encoding_format": "base64"}
            answer = self.checked(llama.handle_embeddings(body))
            try:
                raw = b64decode(answer["data"][0]["embedding"])
            except (LookupError, TypeError, ValueError) as error:
                raise ModelAnswerInvalid(self.label, "it holds no vector") from error
            if len(raw) != 4 * dimensions:
                raise BadVector(f"the model returned {len(raw) // 4} numbers instead of {dimensions}")
            numbers = struct.unpack(f"<{dimensions}f", raw)
            length = math.hypot(*numbers)
            if not math.isfinite(length):
                raise BadVector("the model returned a number that is not finite")
            return struct.pack(f"<{dimensions}f", *(number / (length or 1.0) for number in numbers))

        prepared = _encodable(prompt + text[:MAX_CHARS])
        return self.ask(lambda llama, _: _fitting(prepared, lambda t: embed(llama, t)), timeout_s=timeout_s)


class LlamaGenerator(LlamaModel):
    """``Generator`` in this process."""

    role = GENERATE

    @property
    def fingerprint(self) -> str:
        return f"llama.cpp:{self._folder.name}:{self.weights}"

    def generate(
        self,
        prompt: str,
        *,
        timeout_s: float,
        max_tokens: int,
        temperature: float = 0.0,
        schema: JsonSchema | None = None,
    ) -> str:
        architecture = self.facts["architecture"]
        content = _encodable(without_thoughts(f"{self._folder.name} {architecture}", prompt))
        body: Json = {
            "messages": [{"role": "user", "content": content}],
            "temperature": temperature,
            "max_tokens": max_tokens,
            "stream": True,  # a stream can be stopped
            "cache_prompt": False,  # earlier prompts do not influence the result
            "chat_template_kwargs": {"enable_thinking": False},
        }
        if schema is not None:
            shape = {"name": "answer", "schema": dict(schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": shape}

        def write(llama: Llama, is_cancelled: IsCancelled) -> str:
            pieces: list[Json] = []

            def take(piece: Json) -> bool:
                pieces.append(piece)
                return is_cancelled()

            llama.handle_chat_completions(body, take)
            if is_cancelled():
                raise self.unavailable("it was stopped before the end")
            try:
                choices = [choice for piece in pieces for choice in self.checked(piece)["choices"]]
                return "".join(choice["delta"].get("content") or "" for choice in choices)
            except (LookupError, TypeError, AttributeError) as error:
                raise ModelAnswerInvalid(self.label, "it holds no message") from error

        return self.ask(write, timeout_s=timeout_s)


class LlamaReranker(LlamaModel):
    """
    ``Reranker`` in this process. Scores each document separately, and equal documents once.

    For most models the raw output is mapped to the range from 0 to 1 by the logistic function.
    """

    role = RERANK
    max_document_chars = MAX_DOCUMENT_CHARS

    @property
    def fingerprint(self) -> str:
        scale = "as-is" if self._is_probability else "logistic"
        return f"llama.cpp:{self._folder.name}:{self.weights}:{scale}:{self.max_document_chars}"

    def rerank(self, query: str, documents: Sequence[str], *, timeout_s: float) -> list[float]:
        until = time.monotonic() + timeout_s
        question = _encodable(query)
        texts = [_encodable(document[: self.max_document_chars]) for document in documents]

        def score(llama: Llama, text: str) -> float:
            answer = self.checked(llama.handle_rerank({"query": question, "documents": [text]}))
            try:
                raw = float(answer["results"][0]["relevance_score"])
            except (LookupError, TypeError, ValueError) as error:
                raise ModelAnswerInvalid(self.label, "it holds no score") from error
            if not math.isfinite(raw):
                raise ModelAnswerInvalid(self.label, "its score is not a number")
            if self._is_probability:
                return max(0.0, min(1.0, raw))
            return 1 / (1 + math.exp(-max(-_STEEPEST, min(_STEEPEST, raw))))

        def score_fitting(text: str) -> float:
            left_s = until - time.monotonic()
            return self.ask(lambda llama, _: _fitting(text, lambda t: score(llama, t)), timeout_s=left_s)

        scores = {text: score_fitting(text) for text in dict.fromkeys(texts)}
        return [scores[text] for text in texts]

    @property
    def _is_probability(self) -> bool:
        return bool(self.facts["architecture"] == _PROBABILITIES)


def require_llama() -> None:
    """Raise `ExtraMissing` if llama.cpp is not installed."""
    if find_spec("xllamacpp") is None:  # finds the package without importing it
        raise ExtraMissing("xllamacpp", extra="local")


def load(path: Path, role: str, context: int) -> Llama:
    """
    Load the model at *path*, trained for *context* tokens (0 if unknown).

    Loading holds the GIL: one second for the largest model, whose weights are memory-mapped.

    Raises:
        ConfigError: llama.cpp cannot load the model.
    """
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(path)
    tokens = min(context or _MOST_TOKENS[role], _MOST_TOKENS[role])
    parameters.n_ctx = parameters.n_batch = tokens
    parameters.embedding = role != GENERATE
    if parameters.embedding:
        parameters.n_ubatch = tokens  # a text is processed in one batch or not at all
    if role == RERANK:
        parameters.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_RANK
    parameters.n_parallel = 1
    parameters.cache_ram_mib = 0  # otherwise llama.cpp caches prompts, up to 8 GB
    parameters.fit_params = parameters.warmup = False  # both cost more at start than they save
    parameters.verbosity = _SILENT
    parameters.endpoint_metrics = True
    # llama.cpp always listens on loopback; the random key keeps other processes out.
    parameters.api_keys = [token_hex()]
    parameters.ui = parameters.endpoint_slots = False
    try:
        llama = cast("Llama", xllamacpp.Server(parameters))
    except RuntimeError as error:  # the error gives no reason
        raise ConfigError(
            f"llama.cpp cannot load {path}: the file is damaged, or of a kind that this release does not know. "
            "Run: pip install --upgrade xllamacpp, or add the model again."
        ) from error
    # A server that is freed before its loop runs would wait for the loop forever. The loop answers this call,
    # so it runs when the call returns.
    llama.handle_metrics()
    return llama


def inspect(path: Path, role: str) -> dict[str, Any]:
    """
    Return the facts about the model at *path* for *role*, after loading it.

    The few fields that are needed are found by their names; llama.cpp checks the rest of the file.

    Raises:
        ConfigError: the file is no GGUF model, a model for another role, or cannot be loaded.
    """
    with path.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise ConfigError("This is not a model for llama.cpp: it is no GGUF file. Nothing was installed.")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:

            def number(name: bytes) -> int:
                match = re.search(rb"[\w-]\." + name + rb"\x04\0\0\0(.{4})", content, re.DOTALL)
                return int.from_bytes(match[1], "little") if match else 0

            def text(name: bytes) -> str:
                match = re.search(rb"general\." + name + rb"\x08\0\0\0(.{8})", content, re.DOTALL)
                if match is None:
                    return ""
                return content[match.end() : match.end() + int.from_bytes(match[1], "little")].decode(
                    "utf-8", "replace"
                )

            facts: dict[str, Any] = {
                "architecture": text(b"architecture"),
                "title": text(b"name"),
                "context": number(b"context_length"),
                "dimensions": number(b"embedding_length_out") or number(b"embedding_length"),
            }
            pooling = number(b"pooling_type")
            ranks = pooling == 4 or re.search(rb"\0cls\.(?:output\.)?weight", content) is not None
    is_encoder = pooling in (1, 2, 3) or any(part in facts["architecture"] for part in ("bert", "embedding"))
    kind = RERANK if ranks else EMBED if is_encoder else GENERATE
    if kind != role:
        raise ConfigError(
            f"This is a model to {kind} ({facts['architecture']}), not to {role}. Nothing was installed."
        )
    load(path, role, facts["context"])
    return facts


_MODELS: weakref.WeakSet[LlamaModel] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    # The process crashes if llama.cpp is still loaded when the interpreter ends.
    for model in list(_MODELS):
        model.close()


def _encodable(text: str) -> str:
    """Return *text* with question marks for characters that UTF-8 cannot encode (unpaired surrogates)."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _fitting(text: str, ask: Callable[[str], Result]) -> Result:
    """
    Return the result of *ask* for *text*, or for the longest beginning of it that the model accepts.

    Raises:
        InputTooLong: even the shortened text does not fit.
    """
    for _ in range(_CUTS):
        try:
            return ask(text)
        except InputTooLong as error:
            share = error.limit / error.tokens if error.limit and error.tokens else 0.5
            text = text[: max(1, int(len(text) * min(share, 1.0) * _CUT_MARGIN))]
    return ask(text)
