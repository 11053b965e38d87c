"""GGUF models that llama.cpp runs in this process (package ``xllamacpp``)."""

import atexit
import weakref
from contextlib import closing
from pathlib import Path
from secrets import token_hex
from threading import Lock, Timer
from typing import Any

from clawmem.adapters.models.server import HttpServer, Json, Limits, ModelIdentity, Provider
from clawmem.adapters.models.store import EMBED, GENERATE, RERANK, ModelFolder, require
from clawmem.ports.errors import ConfigError, ModelUnavailable

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

Llama = Any  # ``xllamacpp.Server``


class LlamaServer:
    """
    Model server in this process, over llama.cpp's own HTTP server on the loopback interface.

    The model is loaded by its first request, and unloaded after *idle_s* seconds without one. One request runs at a time;
    llama.cpp stops a generation whose caller has given up.
    """

    provider = IN_PROCESS
    location = "this process"

    def __init__(self, folder: ModelFolder, role: str, *, idle_s: float = IDLE_S) -> None:
        """Prepare the model without loading it. Raises `ExtraMissing` if llama.cpp is not installed."""
        require(*REQUIRED)
        self.name = folder.name
        self.label = f"{folder.name!r} in {self.location}"
        self._folder, self._role, self._idle_s = folder, role, idle_s
        self._key = token_hex()  # keeps other processes out
        self._turn = Lock()
        self._is_closed = False
        self._llama: Llama | None = None
        self._timer = Timer(0, self._unload)
        _SERVERS.add(self)

    def served(self, limits: Limits) -> ModelIdentity:
        """Return the identity of the model by its file, without loading it."""
        files, facts = self._folder.manifest()
        family = f"{facts['architecture']} {facts['title']}"
        return ModelIdentity(self.name, files[MODEL][:12], family, int(facts["dimensions"]))

    def post(self, path: str, body: Json, limits: Limits) -> Json:
        """Return the answer of llama.cpp; see `HttpServer.post`. Raises `ConfigError` if the model cannot be loaded."""
        if self._is_closed or not self._turn.acquire(timeout=max(0.0, limits.left_s())):
            raise self._unavailable("it was closed" if self._is_closed else "it works on another request")
        try:
            self._timer.cancel()
            if self._llama is None:
                context = self._folder.manifest().facts["context"]
                self._llama = load(self._folder.path / MODEL, self._role, context, self._key)
            address = self._llama.listening_address
            with closing(HttpServer(address, None, IN_PROCESS, self.name, api_key=self._key)) as server:
                server.label = self.label
                # Without its cache, earlier prompts do not influence the answer.
                return server.post(path, {**body, "cache_prompt": False}, limits)
        except ModelUnavailable as error:
            raise self._unavailable(error.reason) from error
        finally:
            if not self._is_closed:
                self._timer = Timer(self._idle_s, self._unload)
                self._timer.daemon = True
                self._timer.start()
            self._turn.release()

    def close(self) -> None:
        """Unload the model. Later requests fail."""
        self._is_closed, self._llama = True, None
        self._timer.cancel()

    def _unload(self) -> None:
        with self._turn:
            self._llama = None

    def _unavailable(self, reason: str) -> ModelUnavailable:
        """Return the error for a model that cannot answer now; its remedy does not mention a server."""
        remedy = "Do without such models (CLAWMEM_NO_LOCAL_MODELS=1)"
        return ModelUnavailable(self.label, reason, remedy=remedy)


def load(path: Path, role: str, context: int, key: str) -> Llama:
    """
    Load the model at *path*, trained for *context* tokens (0 if unknown), and serve it to who has the *key*.

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
    parameters.port, parameters.api_keys = 0, [key]
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
    except Exception as error:  # the package raises any error for a file that was cut off
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
        raise ConfigError(f"It is a model to {kind} ({architecture}), not to {role}. Nothing was installed.")
    load(path, role, facts["context"], token_hex())
    return facts


_SERVERS: weakref.WeakSet[LlamaServer] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    # The process crashes if llama.cpp is still loaded when the interpreter ends.
    for server in list(_SERVERS):
        server.close()
