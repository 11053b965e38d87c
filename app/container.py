from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from clawmem.app.settings import Settings
from clawmem.app.without import without
from clawmem.ports.errors import ExtraMissing
from clawmem.ports.model_failures import ModelRole

with without("starlette"):  # otherwise every command would import starlette, which only a server needs
    from dependency_injector import containers, providers


def late(target: str, *, extra: str | None = None) -> Callable[..., Any]:
    """
    Return a factory that imports ``module:attribute`` on its first call.

    dependency-injector resolves its own string paths while the class body runs, which would import every backend on
    every start.

    Args:
        extra: The extra to install when a package is missing; None if every installation has the package.
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
            raise  # a bug of clawmem, not a missing extra
        raise ExtraMissing(module.split(".")[2], extra=extra) from missing


_SERVICES = "clawmem.app.services"
_CATALOGUE = "clawmem.app.known_models"
_MODELS = "clawmem.app.models"


def _function(target: str) -> Callable[..., Any]:
    """Return a factory like `late`, for a function that is passed on instead of being called."""
    return lambda: _attribute(target, None)


class Container(containers.DeclarativeContainer):
    """The one place that names concrete adapters. Build it in an entry point, override it in tests."""

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
    at_the_end = providers.Singleton(late("contextlib:ExitStack"))  # closed by the caller
    surroundings = providers.Factory(
        late(f"{_MODELS}:Surroundings"), vault.provided.model_failures, clock, at_the_end
    )
    local_models = providers.Factory(
        late(f"{_MODELS}:LocalModels"), config.models, config.local_models, config.may_download
    )
    llama_embedder = providers.Singleton(
        late(f"{_MODELS}:in_process"), ModelRole.EMBEDDER, local_models, surroundings
    )
    served_embedder = providers.Singleton(
        late(f"{_MODELS}:served"), ModelRole.EMBEDDER, config.embed_server, surroundings
    )
    embedder = providers.Selector(
        config.embedder_is,
        local=providers.Singleton(late(f"{_CATALOGUE}:embedder_named"), config.embedder, config.models),
        llama=llama_embedder.provided.model,
        server=served_embedder.provided.model,
    )
    selection = providers.Factory(late(f"{_CATALOGUE}:selected"), config.embedder, config.models)
    chosen_generator = providers.Singleton(
        late(f"{_MODELS}:chosen"), ModelRole.GENERATOR, config.llm_server, local_models, surroundings
    )
    chosen_reranker = providers.Singleton(
        late(f"{_MODELS}:chosen"), ModelRole.RERANKER, config.rerank_server, local_models, surroundings
    )
    generator = chosen_generator.provided.model  # None if no model has the role
    reranker = chosen_reranker.provided.model
    embedder_provider = providers.Selector(
        config.embedder_is,
        local=providers.Factory(late(f"{_MODELS}:of_catalogue"), selection),
        llama=llama_embedder.provided.how,
        server=served_embedder.provided.how,
    )
    roles = providers.Factory(
        late(f"{_SERVICES}.models.roles:Roles"),
        providers.Dict(
            {
                ModelRole.EMBEDDER: embedder_provider.provider,
                ModelRole.GENERATOR: chosen_generator.provided.how.provider,
                ModelRole.RERANKER: chosen_reranker.provided.how.provider,
            }
        ),
        vault.provided.model_failures,
    )
    models = providers.Factory(
        late(f"{_SERVICES}.maintenance.models:Models"),
        providers.Factory(late(f"{_CATALOGUE}:known_models"), config.models),
        selection.provided.name,
    )
    parse_yaml = providers.Singleton(_function("clawmem.adapters.files.front_matter:parse_yaml"))

    forget_log = providers.Singleton(late("clawmem.adapters.files.forget_log:ForgetFile"), config.forgotten)
    forgotten_places = providers.Factory(
        late(f"{_SERVICES}.lifecycle.forgotten_places:ForgottenPlaces"), vault, forget_log
    )
    update = providers.Factory(
        late(f"{_SERVICES}.indexing.update:UpdateCollection"),
        vault,
        files,
        clock,
        parse_yaml,
        forgotten_places.provided.agree,
        config.roots,
    )
    sync = providers.Factory(
        late(f"{_SERVICES}.indexing.syncing:SyncFolder"),
        providers.Factory(
            late(f"{_SERVICES}.indexing.update:UpdateCollection"), vault, clock=clock, parse_yaml=parse_yaml
        ).provider,
        files,
        providers.Factory(late("clawmem.adapters.files.disk:DiskFiles"), hard_links=False),
        config.home,
        config.own_files,
    )
    watching = providers.Factory(
        late(f"{_SERVICES}.indexing.watching:VaultWatcher"),
        providers.Factory(late("clawmem.adapters.files.watching:WatchedFolders")),
        providers.Factory(
            late(f"{_SERVICES}.indexing.update:UpdateCollection"),
            vault,
            providers.Factory(late("clawmem.adapters.files.live:LiveFiles")),
            clock,
            parse_yaml,
            forgotten_places.provided.agree,
            config.roots,
        ),
        providers.Factory(
            late(f"{_SERVICES}.maintenance.lane:Lane"), "watch", vault.provided.leases, clock, holder, is_gone
        ),
    )
    local_embedder = providers.Factory(late(f"{_CATALOGUE}:embedder_of"), folder=config.models)
    # While the vectors of the chosen model are being made, questions are embedded by the model of the serving
    # vectors.
    question_embedder = providers.Singleton(
        late(f"{_SERVICES}.indexing.serving_embedder:ServingEmbedder"),
        vault.provided.embeddings,
        embedder.provider,
        local_embedder.provider,
    )
    embed = providers.Factory(
        late(f"{_SERVICES}.indexing.embed:EmbedPending"),
        vault,
        embedder,
        question_embedder.provided.of,
        by_name=config.embedder_by_name,
    )
    # Pipelines are cached with the vault: their retrievers have threads with their own connections.
    search = providers.Singleton(late(f"{_SERVICES}.retrieval.pipelines.search:search"), vault)
    vsearch = providers.Singleton(
        late(f"{_SERVICES}.retrieval.pipelines.vsearch:vsearch"), vault, question_embedder
    )
    late_interaction = providers.Singleton(late("clawmem.adapters.models.static_words:installed_words"))
    question_models = providers.Factory(
        late(f"{_SERVICES}.retrieval.pipelines.with_models:Models"), generator, reranker, clock
    )
    query = providers.Singleton(
        late(f"{_SERVICES}.retrieval.pipelines.query:query"),
        vault,
        question_embedder,
        late_interaction,
        question_models,
    )
    intent_search = providers.Factory(
        late(f"{_SERVICES}.retrieval.pipelines.intent_search:intent_search"),
        vault,
        question_embedder,
        models=question_models,
    )
    query_plan = providers.Singleton(
        late(f"{_SERVICES}.retrieval.pipelines.query_plan:query_plan"),
        vault,
        question_embedder,
        providers.Factory(late(f"{_SERVICES}.retrieval.plans:planner"), vault, generator),
    )
    memory_retrieve = providers.Singleton(
        late(f"{_SERVICES}.retrieval.pipelines.memory_retrieve:MemoryRetrieve"),
        vault,
        providers.Dict(
            search=search.provider,
            vsearch=vsearch.provider,
            query=query.provider,
            intent_search=intent_search.provider,
            query_plan=query_plan.provider,
        ),
    )
    find_similar = providers.Factory(
        late(f"{_SERVICES}.retrieval.similar:FindSimilar"), vault, question_embedder
    )
    timeline = providers.Factory(late(f"{_SERVICES}.documents.timeline:ReadTimeline"), vault)
    build_graphs = providers.Factory(late(f"{_SERVICES}.graph.build:BuildGraphs"), vault, clock)
    redact = providers.Object(late("clawmem.app.interfaces.hooks.capturing:without_secrets"))
    enrich = providers.Factory(
        late(f"{_SERVICES}.knowledge.enriching:enriching"),
        vault=vault,
        clock=clock,
        generator=generator,
        redact=redact,
    )
    causal_links = providers.Factory(late(f"{_SERVICES}.graph.causal_links:CausalLinks"), vault)
    lookup = providers.Factory(late(f"{_SERVICES}.documents.lookup:Lookup"), vault, config.roots)
    tending = providers.Factory(late(f"{_SERVICES}.lifecycle.tending:LifecycleActions"), vault, clock)
    archiving = providers.Factory(late(f"{_SERVICES}.lifecycle.archiving:Archiving"), vault, clock)
    query_alone = providers.Singleton(
        late(f"{_SERVICES}.retrieval.pipelines.query:query"), vault, question_embedder, late_interaction
    )
    prove = providers.Factory(
        late(f"{_SERVICES}.lifecycle.proof:Prove"),
        vault,
        clock,
        providers.Dict(search=search.provider, vsearch=vsearch.provider, query=query_alone.provider),
        find_similar.provider,
        config.places,
    )
    diary = providers.Factory(late(f"{_SERVICES}.capture.diary:Diary"), vault, clock, redact)
    profile = providers.Factory(late(f"{_SERVICES}.briefing.profile:Profile"), vault, clock, redact)
    forgetting = providers.Factory(
        late(f"{_SERVICES}.lifecycle.forgetting:Forgetting"),
        vault,
        clock,
        profile,
        forgotten_places.provided.note,
    )
    sweep = providers.Factory(
        late(f"{_SERVICES}.lifecycle.sweeping:Sweep"),
        archiving,
        forgetting,
        providers.Factory(late(f"{_SERVICES}.lifecycle.proposing:Propose"), vault, clock),
    )
    recalls = providers.Factory(
        late(f"{_SERVICES}.retrieval.recalls:Recalls"),
        vault.provided.telemetry,
        clock,
        vault.provided.receipts,
        answers=vault.provided.answers,
        enabled=config.telemetry,
        forgets=config.forgets,
        retention=providers.Factory(
            late(f"{_SERVICES}.retrieval.recalls:Retention"), config.retention_days, config.receipt_days
        ),
    )
    explain = providers.Factory(late(f"{_SERVICES}.retrieval.explain:Explain"), vault)
    why = providers.Factory(late(f"{_SERVICES}.retrieval.why:ReceiptReader"), vault, clock)
    consolidation = providers.Factory(
        late(f"{_SERVICES}.maintenance.consolidation:Consolidation"), vault, clock, generator=generator
    )
    synthesis = providers.Factory(late(f"{_SERVICES}.maintenance.synthesis:Synthesis"), vault, clock)
    lane = providers.Factory(
        late(f"{_SERVICES}.maintenance.lane:Lane"),
        leases=vault.provided.leases,
        clock=clock,
        holder=holder,
        is_gone=is_gone,
    )
    tidy = providers.Factory(
        late(f"{_SERVICES}.maintenance.tidying:Cleanup"),
        vault,
        clock,
        config.retention_days,
        config.receipt_days,
        forgets=config.forgets,
    )
    phases = providers.Factory(late(f"{_SERVICES}.maintenance.phases:Phases"), vault, clock, tidy=tidy)
    local_hour = providers.Object(late("clawmem.adapters.system.clock:local_hour"))
    rescue = providers.Factory(
        late(f"{_SERVICES}.maintenance.repairing:Rescue"),
        providers.Callable(_function("clawmem.adapters.sqlite.rescue.salvage:salvage")),
        providers.Callable(_function("clawmem.adapters.sqlite.rescue.exchange:held")),
        providers.Callable(_function("clawmem.adapters.sqlite.rescue.exchange:exchange")),
        providers.Callable(_function("clawmem.adapters.sqlite.rescue.exchange:discard")),
    )
    repair = providers.Factory(late(f"{_SERVICES}.maintenance.repairing:Repair"), config.vault, clock, rescue)
    copy_vault = providers.Object(late("clawmem.adapters.sqlite.snapshot:copy_vault"))
    lanes = providers.Factory(
        late(f"{_SERVICES}.maintenance.lanes:Lanes"), vault, clock, lane.provider, hour_of=local_hour
    )
    analytics = providers.Factory(late("clawmem.adapters.duckdb.analytics:DuckdbAnalytics", extra="duckdb"))
    report = providers.Factory(
        late(f"{_SERVICES}.maintenance.report:Report"),
        vault.provided.documents,
        vault.provided.telemetry,
        clock,
        analytics.provider,
    )
    status = providers.Factory(late(f"{_SERVICES}.maintenance.status:Status"), vault, clock, roles)
    examined = providers.Factory(
        late(f"{_SERVICES}.maintenance.model_checks:Models"),
        embedder.provider,
        generator.provider,
        reranker.provider,
        roles,
    )
    doctor = providers.Factory(late(f"{_SERVICES}.maintenance.doctor:Doctor"), vault, files, models=examined)
    verify = providers.Factory(late(f"{_SERVICES}.maintenance.verify:Verify"), vault, files)


def _kind_of_embedder(settings: Settings) -> str:
    if settings.embed_server:
        return "server"
    return "llama" if settings.embedder == "embeddinggemma" else "local"


def build_container(settings: Settings, *, read_only: bool) -> Container:
    """Return the container for *settings*; it opens nothing yet."""
    container = Container()
    container.config.from_dict(
        {
            "vault": str(settings.vault),
            "indexes": f"{settings.vault}.indexes",
            "forgotten": f"{settings.vault}.forgotten",
            "places": [
                f"{settings.vault}{end}" for end in ("", "-wal", "-shm", ".indexes", ".hooks", ".forgotten")
            ],
            "options": settings.backend_options,
            "embedder": settings.embedder,
            "embedder_is": _kind_of_embedder(settings),
            "embedder_by_name": bool(settings.embed_server) or settings.embedder != "auto",
            "embed_server": settings.embed_server.model_dump() if settings.embed_server else {},
            "llm_server": settings.llm_server.model_dump() if settings.llm_server else {},
            "rerank_server": settings.rerank_server.model_dump() if settings.rerank_server else {},
            "local_models": not settings.no_local_models,
            # Only if the vault may be changed: neither a question nor a hook waits for a download.
            "may_download": settings.download_models and not (read_only or settings.no_local_models),
            "models": str(settings.models),
            "read_only": read_only or settings.read_only,
            "telemetry": settings.telemetry and not settings.read_only,
            "forgets": not settings.read_only,
            "retention_days": settings.retention_days,
            "receipt_days": settings.receipt_days if settings.receipts else 0,
            "home": settings.home,
            "own_files": settings.own_files,
            "roots": {name: str(one.path) for name, one in settings.collections.items()},
        }
    )
    return container
