"""GGUF models that llama.cpp runs in this process (package ``xllamacpp``)."""

from __future__ import annotations

import atexit
import json
import weakref
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from threading import Event, Timer
from typing import Any

from clawmem.adapters.models.server import (
    EMBED,
    EXCERPT,
    GENERATE,
    RERANK,
    Json,
    Limits,
    ModelIdentity,
    Provider,
    encoded,
    too_long,
)
from clawmem.adapters.models.store import ModelFolder, require
from clawmem.ports.errors import ConfigError, ModelRefused, ModelUnavailable

MODEL = "model.gguf"
REQUIRED = "local", "xllamacpp", "gguf"  # an extra and its packages
IDLE_S = 120.0
QUERY_TIMEOUT_S = 10.0  # includes loading the model
IN_PROCESS = Provider(
    "llama.cpp",
    # Each text is computed separately, so that its vector depends on nothing but the text, and so that a query does
    # not wait for a long batch of documents.
    max_texts=1,
    rerank_path="/v1/rerank",
    max_documents=1,
)

# Tokens per request. The context takes its memory in full even if it is not used: 470 MB for the generator.
_MOST_TOKENS = {EMBED: 2048, RERANK: 2048, GENERATE: 4096}
_HANDLERS = {IN_PROCESS.embed_path: "handle_embeddings", IN_PROCESS.rerank_path: "handle_rerank"}

Llama = Any  # ``xllamacpp.Server``; its requests and responses are those of llama.cpp's own server


class LlamaServer:
    """
    ``ModelServer`` in this process: a model that is unloaded after *idle_s* seconds without requests.

    One thread runs llama.cpp, one request at a time. A caller waits for at most its timeout. Its request is
    then removed from the queue or, if it is being processed, ends with the current step, which is one generated
    token or one text. A step cannot be interrupted; the next request waits until it ends.
    """

    provider = IN_PROCESS
    location = "this process"

    def __init__(self, folder: ModelFolder, role: str, *, idle_s: float = IDLE_S) -> None:
        """Prepare the model without loading it. Raises `ExtraMissing` if llama.cpp is not installed."""
        require(*REQUIRED)
        self.name = folder.name
        self.label = f"{folder.name!r} in {self.location}"
        self._folder = folder
        self._role = role
        self._idle_s = idle_s
        self._closing = Event()
        self._threads = ThreadPoolExecutor(1, thread_name_prefix=folder.name)
        self._llama: Llama | None = None
        self._timer: Timer | None = None
        _SERVERS.add(self)

    @property
    def is_loaded(self) -> bool:
        """Whether the model is in memory."""
        return self._llama is not None

    def served(self, limits: Limits) -> ModelIdentity:
        """Return the identity of the model by its file, without loading it."""
        files, facts = self._folder.manifest()
        family = f"{facts['architecture']} {facts['title']}"
        return ModelIdentity(self.name, files[MODEL][:12], family, int(facts["dimensions"]))

    def post(self, path: str, body: Json, limits: Limits) -> Json:
        """
        Return the answer of llama.cpp.

        Raises:
            ModelUnavailable: the time is over, the model was closed, or the error is temporary.
            ModelRefused: the error is permanent; `InputTooLong` if the text does not fit the context.
            ConfigError: the model cannot be loaded.
        """
        timeout_s = limits.left_s()
        if timeout_s <= 0:
            raise self._unavailable("no time is left")
        cancelled = Event()
        try:
            future = self._threads.submit(self._run, path, json.loads(encoded(body)), cancelled)
            answer = future.result(timeout_s)
        except TimeoutError:
            cancelled.set()
            future.cancel()
            raise self._unavailable(f"it was not done in {timeout_s:.3g} s") from None
        except (RuntimeError, CancelledError) as error:
            raise self._unavailable("it was closed") from error
        if fault := answer.get("error"):
            message = " ".join(str(fault["message"]).split())[:EXCERPT].rstrip(".")
            if long := too_long(self.label, f"{message} {fault.get('type', '')}"):
                raise long
            if fault.get("code") in (500, 503):
                raise self._unavailable(message)
            raise ModelRefused(self.label, message, remedy="Check it with: clawmem doctor")
        return answer

    def close(self) -> None:
        """Unload the model after the current step. Later requests fail."""
        self._closing.set()
        self._threads.shutdown(cancel_futures=True)
        if self._timer:
            self._timer.cancel()
        self._llama = None

    def _run(self, path: str, request: dict[str, Any], cancelled: Event) -> Json:
        """Return the answer of the loaded model; what is *cancelled* ends with the current step."""
        if self._timer:
            self._timer.cancel()
        if self._llama is None:
            context = self._folder.manifest().facts["context"]
            self._llama = load(self._folder.path / MODEL, self._role, context)
        pieces: list[Json] = []

        def take(piece: Json) -> bool:
            pieces.append(piece)
            return cancelled.is_set() or self._closing.is_set()

        try:
            if path in _HANDLERS:
                answer: Json = getattr(self._llama, _HANDLERS[path])(request)
                return answer
            # A stream can be stopped; without a cache, earlier prompts do not influence the answer.
            self._llama.handle_chat_completions({**request, "stream": True, "cache_prompt": False}, take)
        finally:
            self._timer = Timer(self._idle_s, self._unload)
            self._timer.daemon = True
            self._timer.start()
        if cancelled.is_set() or self._closing.is_set():
            raise self._unavailable("it was stopped before the end")
        if failed := next((piece for piece in pieces if "error" in piece), None):
            return failed
        deltas = [choice["delta"] for piece in pieces for choice in piece["choices"]]
        text = "".join(delta.get("content") or "" for delta in deltas)
        return {"choices": [{"message": {"content": text}}]}

    def _unload(self) -> None:
        with suppress(RuntimeError):  # it was closed
            self._threads.submit(setattr, self, "_llama", None)

    def _unavailable(self, reason: str) -> ModelUnavailable:
        """Return the error for a model that cannot answer now; its remedy does not mention a server."""
        remedy = "Do without such models (CLAWMEM_NO_LOCAL_MODELS=1)"
        return ModelUnavailable(self.label, reason, remedy=remedy)


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
    parameters.verbosity = -1  # silent
    parameters.endpoint_metrics = True
    # llama.cpp always listens on loopback; the random key keeps other processes out.
    parameters.api_keys = [token_hex()]
    parameters.ui = parameters.endpoint_slots = False
    try:
        llama = xllamacpp.Server(parameters)
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

    Raises:
        ConfigError: the file is no GGUF model, a model for another role, or cannot be loaded.
    """
    from gguf import GGUFReader

    try:
        reader = GGUFReader(path)
        fields = {name.partition(".")[2]: field for name, field in reader.fields.items()}
        architecture = str(fields["architecture"].contents())
    except Exception as error:  # of a file that was cut off, the package raises whatever comes of it
        raise ConfigError(
            "This is not a model for llama.cpp: it is no GGUF file, or damaged. Nothing was installed."
        ) from error

    def number(name: str) -> int:
        return int(fields[name].contents()) if name in fields else 0

    facts: dict[str, Any] = {
        "architecture": architecture,
        "title": str(fields["name"].contents()) if "name" in fields else "",
        "context": number("context_length"),
        "dimensions": number("embedding_length_out") or number("embedding_length"),
    }
    pooling = number("pooling_type")
    ranks = pooling == 4 or any(tensor.name.startswith("cls.") for tensor in reader.tensors)
    is_encoder = pooling in (1, 2, 3) or any(part in architecture for part in ("bert", "embedding"))
    kind = RERANK if ranks else EMBED if is_encoder else GENERATE
    if kind != role:
        raise ConfigError(
            f"This is a model to {kind} ({architecture}), not to {role}. Nothing was installed."
        )
    load(path, role, facts["context"])
    return facts


_SERVERS: weakref.WeakSet[LlamaServer] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    # The process crashes if llama.cpp is still loaded when the interpreter ends.
    for server in list(_SERVERS):
        server.close()
