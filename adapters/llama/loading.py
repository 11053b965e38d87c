"""From a file to a model in memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from secrets import token_hex
from typing import Any, Protocol, cast

from clawmem.adapters.llama.gguf import Header, Role
from clawmem.ports.errors import ConfigError

Json = dict[str, Any]

# What is read at once. A context takes memory whether it is used or not: 470 MB for the writer.
MOST_TOKENS = {Role.EMBED: 2048, Role.RERANK: 2048, Role.GENERATE: 4096}
_SILENT = -1


class Llama(Protocol):
    """What is used of ``xllamacpp.Server``: questions and answers are those of llama.cpp's own server."""

    def handle_embeddings(self, prompt: Json) -> Json:
        """Vectors of texts."""
        ...

    def handle_rerank(self, prompt: Json) -> Json:
        """Scores of documents."""
        ...

    def handle_chat_completions(self, prompt: Json, callback: Callable[[Json], bool]) -> None:
        """A message, piece by piece; the callback ends it by saying True."""
        ...

    def handle_metrics(self) -> bytes:
        """What was done so far."""
        ...


def loaded(path: Path, header: Header) -> Llama:
    """
    The model at *path*, in memory.

    The interpreter does nothing else meanwhile: a second for the largest model, whose weights are mapped.

    Raises:
        ConfigError: llama.cpp cannot load it.
    """
    import xllamacpp

    try:
        llama = cast("Llama", xllamacpp.Server(_parameters(path, header)))
    except RuntimeError as error:  # which says no more than that it went wrong
        raise ConfigError(
            f"llama.cpp cannot load {path}: the file is damaged, or of a kind that this release does not know "
            f"({header.architecture}). Run: pip install --upgrade xllamacpp, or add the model again."
        ) from error
    # One that is let go before its loop runs waits for it for ever; this question is answered by the loop.
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
        parameters.n_ubatch = tokens  # a text is read in one piece or not at all
    if header.role is Role.RERANK:
        parameters.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_RANK
    parameters.n_parallel = 1
    parameters.cache_ram_mib = 0  # otherwise prompts are kept, up to 8 GB of them
    parameters.fit_params = parameters.warmup = False  # both cost a start more than they save
    parameters.verbosity = _SILENT
    parameters.endpoint_metrics = True
    # It listens on loopback, whether anybody wants that or not; nobody knows the key.
    parameters.api_keys = [token_hex()]
    parameters.ui = parameters.endpoint_slots = False
    return parameters
