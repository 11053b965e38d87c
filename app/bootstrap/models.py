"""The choice of a model for each role: a configured server, else a model in this process, else none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any, NamedTuple

from clawmem.adapters.models.catalogue import model_named
from clawmem.app.bootstrap.adapters import needs_extra
from clawmem.app.services.models import (
    Choice,
    Option,
    Watch,
    WatchedEmbedder,
    WatchedGenerator,
    WatchedReranker,
    first_of,
    the_only,
)
from clawmem.ports.clock import Clock
from clawmem.ports.errors import ConfigError
from clawmem.ports.model_records import ModelFailures, ModelRole

Server = Mapping[str, Any]
"""The settings of a server, by name; empty if no server is configured."""


class ModelContext(NamedTuple):
    """
    The dependencies of every model.

    *stack* closes the model at the end; *rest_ms* is the time for which a model is not called after a failure.
    """

    failures: ModelFailures
    clock: Clock
    stack: ExitStack
    rest_ms: int = 0


class LocalModels(NamedTuple):
    """Large models in this process: their folder, and whether they may be run and downloaded."""

    folder: str
    allowed: bool
    may_download: bool


class _Part(NamedTuple):
    """The factories and names for the model of a role."""

    variable: str
    at_a_server: Callable[..., Any]
    local_name: str
    watched: Callable[[Any, Watch], Any]


def _http_embedder(url: str, clock: Clock, **chosen: Any) -> Any:
    with needs_extra("http", "http"):
        from clawmem.adapters.http.embedder import HttpEmbedder
    return HttpEmbedder(url, clock, **chosen)


def _http_generator(url: str, clock: Clock, **chosen: Any) -> Any:
    with needs_extra("http", "http"):
        from clawmem.adapters.http.generator import HttpGenerator
    return HttpGenerator(url, clock, **chosen)


def _http_reranker(url: str, clock: Clock, **chosen: Any) -> Any:
    with needs_extra("http", "http"):
        from clawmem.adapters.http.reranker import HttpReranker
    return HttpReranker(url, clock, **chosen)


_PARTS = {
    ModelRole.EMBEDDER: _Part("CLAWMEM_EMBED_URL", _http_embedder, "embeddinggemma", WatchedEmbedder),
    ModelRole.GENERATOR: _Part("CLAWMEM_LLM_URL", _http_generator, "qmd-query-expansion", WatchedGenerator),
    ModelRole.RERANKER: _Part("CLAWMEM_RERANK_URL", _http_reranker, "qwen3-reranker", WatchedReranker),
}
_FORBIDDEN = "CLAWMEM_NO_LOCAL_MODELS forbids a model in this process"


def served(role: ModelRole, server: Server, around: ModelContext) -> Choice[Any]:
    """
    Return the model of a configured server; it sends no request yet.

    Raises:
        ConfigError: The address, the provider or the key is invalid.
    """
    from clawmem.adapters.http.addresses import shown

    part, address = _PARTS[role], shown(server["url"])

    def build() -> Any:
        said = {name: value for name, value in server.items() if name != "url"}
        made = part.at_a_server(server["url"], around.clock, **said)
        return _kept(role, address, made, around)

    return the_only(role, Option(address, f"{part.variable} names it", build))


def chosen(role: ModelRole, server: Server, local: LocalModels, around: ModelContext) -> Choice[Any]:
    """
    Return the model of an optional role; it loads no weights yet.

    Raises:
        ConfigError: The configured server is invalid.
    """
    if server:
        return served(role, server, around)
    unnamed = f"{_PARTS[role].variable} names no server"
    if not local.allowed:
        return first_of(role, [], without=f"{unnamed}, and {_FORBIDDEN}")
    return first_of(
        role, [_in_process(role, unnamed, local, around)], without=f"{unnamed}, and there is no model here"
    )


def in_process(role: ModelRole, local: LocalModels, around: ModelContext) -> Choice[Any]:
    """
    Return the large model of a role in this process, which the settings select; it loads no weights yet.

    Raises:
        ConfigError: The model or its runtime is not installed, or local models are forbidden.
    """
    if not local.allowed:
        raise ConfigError(f"{_FORBIDDEN}. Choose another, or leave the variable out.")
    return the_only(role, _in_process(role, "the settings name it", local, around))


def _in_process(role: ModelRole, reason: str, local: LocalModels, around: ModelContext) -> Option[Any]:
    part = _PARTS[role]

    def build() -> Any:
        model = model_named(part.local_name, local.folder, may_download=local.may_download)
        return _kept(role, part.local_name, model.opened(), around)

    return Option(part.local_name, reason, build)


def _kept(role: ModelRole, name: str, made: Any, around: ModelContext) -> Any:
    """Return *made* wrapped in a watch, and close it at the end."""
    around.stack.callback(made.close)
    watch = Watch(around.failures, around.clock, role, name, rest_ms=around.rest_ms)
    return _PARTS[role].watched(made, watch)
