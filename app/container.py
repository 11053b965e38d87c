from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from importlib import import_module
from typing import Any

from dependency_injector import containers, providers

from clawmem.app.settings import Settings
from clawmem.ports.errors import ExtraMissing


def late(target: str, *, extra: str | None = None) -> Callable[..., Any]:
    """
    A factory that imports ``module:attribute`` on first call, not before.

    dependency-injector resolves its own string paths while the class body runs, which would import
    every backend on every start.

    Args:
        extra: What to install when a package is missing; None for what every installation has.
    """

    def build(*args: Any, **kwargs: Any) -> Any:
        return _attribute(target, extra)(*args, **kwargs)

    return build


def _attribute(target: str, extra: str | None) -> Any:
    module, _, attribute = target.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except ModuleNotFoundError as missing:
        if extra is None or (missing.name or "").startswith("clawmem"):
            raise  # our own bug, not a missing extra
        raise ExtraMissing(module.split(".")[2], extra=extra) from missing


_SERVICES = "clawmem.app.services"
_CATALOGUE = "clawmem.adapters.models.catalogue"


def _function(target: str) -> Callable[..., Any]:
    """Like `late`, for a function that is handed on instead of being called."""
    return lambda: _attribute(target, None)


def _closed_at_the_end(stack: ExitStack, build: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    made = build(*args, **kwargs)
    stack.callback(made.close)
    return made


class Container(containers.DeclarativeContainer):
    """One place that names concrete adapters. Build it in an entry point, override it in tests."""

    config = providers.Configuration(strict=True)

    records = providers.Singleton(
        late("clawmem.adapters.sqlite.vault:SqliteVault"), config.vault, read_only=config.read_only
    )
    files = providers.Singleton(late("clawmem.adapters.files.disk:DiskFiles"))
    clock = providers.Singleton(late("clawmem.adapters.system.clock:SystemClock"))
    holder = providers.Singleton(late("clawmem.adapters.system.holder:holder_id"))
    engines = providers.Factory(
        late(f"{_SERVICES}.indexes.engines:Engines"),
        providers.Callable(_function("clawmem.app.backends:backend_named")),
        config.indexes,
        read_only=config.read_only,
        options=config.options,
    )
    is_gone = providers.Object(late("clawmem.adapters.system.holder:is_gone"))
    indexer = providers.Factory(late(f"{_SERVICES}.indexes.indexer:Indexer"), records, clock, holder, is_gone)
    vault = providers.Singleton(late(f"{_SERVICES}.indexes.vault:ServedVault"), records, engines, indexer)
    at_the_end = providers.Singleton(late("contextlib:ExitStack"))  # closed by who built the container
    embedder = providers.Selector(
        config.embedder_is,
        local=providers.Singleton(late(f"{_CATALOGUE}:embedder_named"), config.embedder, config.models),
        server=providers.Singleton(
            _closed_at_the_end,
            at_the_end,
            providers.Object(late("clawmem.adapters.http.embedder:http_embedder", extra="http")),
            config.embed_server.url,
            clock,
            model=config.embed_server.model,
            api_key=config.embed_server.api_key,
            dimensions=config.embed_server.dimensions,
            max_chars=config.embed_server.max_chars,
            tokens_per_minute=config.embed_server.tokens_per_minute,
        ),
    )
    selection = providers.Factory(late(f"{_CATALOGUE}:selected"), config.embedder, config.models)
    models = providers.Factory(
        late(f"{_SERVICES}.maintenance.models:Models"),
        providers.Factory(late(f"{_CATALOGUE}:known_models"), config.models),
        selection.provided.name,
    )
    parse_yaml = providers.Singleton(_function("clawmem.adapters.files.front_matter:parse_yaml"))

    update = providers.Factory(
        late(f"{_SERVICES}.indexing.update:UpdateCollection"), vault, files, clock, parse_yaml
    )
    embed = providers.Factory(late(f"{_SERVICES}.indexing.embed:EmbedPending"), vault, embedder)
    search = providers.Factory(late(f"{_SERVICES}.retrieval.pipelines.search:search"), vault)
    vsearch = providers.Factory(late(f"{_SERVICES}.retrieval.pipelines.vsearch:vsearch"), vault, embedder)
    query = providers.Factory(late(f"{_SERVICES}.retrieval.pipelines.query:query"), vault, embedder)
    lookup = providers.Factory(late(f"{_SERVICES}.documents.lookup:Lookup"), vault, config.roots)
    recalls = providers.Factory(
        late(f"{_SERVICES}.retrieval.recalls:Recalls"),
        vault.provided.telemetry,
        clock,
        enabled=config.telemetry,
    )
    analytics = providers.Factory(late("clawmem.adapters.duckdb.analytics:DuckdbAnalytics", extra="duckdb"))
    report = providers.Factory(
        late(f"{_SERVICES}.maintenance.report:Report"),
        vault.provided.documents,
        vault.provided.telemetry,
        clock,
        analytics.provider,
    )
    status = providers.Factory(late(f"{_SERVICES}.maintenance.status:Status"), vault, clock)
    doctor = providers.Factory(late(f"{_SERVICES}.maintenance.doctor:Doctor"), vault, files)
    verify = providers.Factory(late(f"{_SERVICES}.maintenance.verify:Verify"), vault, files)


def build_container(settings: Settings, *, read_only: bool) -> Container:
    """The container for *settings*; nothing is opened yet."""
    container = Container()
    container.config.from_dict(
        {
            "vault": str(settings.vault),
            "indexes": f"{settings.vault}.indexes",
            "options": settings.backend_options,
            "embedder": settings.embedder,
            "embedder_is": "server" if settings.embed_server else "local",
            "embed_server": settings.embed_server.model_dump() if settings.embed_server else {},
            "models": str(settings.models),
            "read_only": read_only or settings.read_only,
            "telemetry": settings.telemetry and not settings.read_only,
            "roots": {name: str(one.path) for name, one in settings.collections.items()},
        }
    )
    return container
