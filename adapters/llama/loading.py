"""Loading of a GGUF model into memory with llama.cpp."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from secrets import token_hex
from typing import Any, Protocol, cast

from clawmem.adapters.llama.gguf import Header, Role
from clawmem.ports.errors import ConfigError

Json = dict[str, Any]

# Tokens per request. The context takes its memory in full even if it is not used: 470 MB for the generator.
MOST_TOKENS = {Role.EMBED: 2048, Role.RERANK: 2048, Role.GENERATE: 4096}
_SILENT = -1


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


def loaded(path: Path, header: Header) -> Llama:
    """
    Load the model at *path*.

    Loading holds the GIL: one second for the largest model, whose weights are memory-mapped.

    Raises:
        ConfigError: llama.cpp cannot load the model.
    """
    import xllamacpp

    try:
        llama = cast("Llama", xllamacpp.Server(_parameters(path, header)))
    except RuntimeError as error:  # the error gives no reason
        raise ConfigError(
            f"llama.cpp cannot load {path}: the file is damaged, or of a kind that this release does not know "
            f"({header.architecture}). Run: pip install --upgrade xllamacpp, or add the model again."
        ) from error
    # A server that is freed before its loop runs would wait for the loop forever. The loop answers this call,
    # so it runs when the call returns.
    llama.handle_metrics()
    return llama


def _parameters(path: Path, header: Header) -> Any:
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(path)
    tokens = min(header.context or MOST_TOKENS[header.role], MOST_TOKENS[header.role])
    parameters.n_ctx = parameters.n_batch = tokens
    parameters.embedding = header.role is not Role.GENERATE
    if parameters.embedding:
        parameters.n_ubatch = tokens  # a text is processed in one batch or not at all
    if header.role is Role.RERANK:
        parameters.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_RANK
    parameters.n_parallel = 1
    parameters.cache_ram_mib = 0  # otherwise llama.cpp caches prompts, up to 8 GB
    parameters.fit_params = parameters.warmup = False  # both cost more at start than they save
    parameters.verbosity = _SILENT
    parameters.endpoint_metrics = True
    # llama.cpp always listens on loopback; the random key keeps other processes out.
    parameters.api_keys = [token_hex()]
    parameters.ui = parameters.endpoint_slots = False
    return parameters
