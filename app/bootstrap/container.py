"""
The composition root: every adapter and every use case is provided here once, and imported at its first use.

Tests and other profiles replace a provider by ``override``. `clawmem.app.bootstrap.services` gives the providers types.
"""

from __future__ import annotations

from contextlib import ExitStack
from operator import attrgetter, not_
from typing import Any

from dependency_injector import containers, providers

from clawmem.app.bootstrap.backends import backend_named
from clawmem.app.bootstrap.lazy import imported_object, lazy
from clawmem.app.environment.process_identity import holder_id, is_gone
from clawmem.app.settings.model import Settings
from clawmem.ports.models import ModelRole

Callable, Dict, Factory, Object = providers.Callable, providers.Dict, providers.Factory, providers.Object
Dependency, Resource, Singleton = providers.Dependency, providers.Resource, providers.Singleton

FILES_OF_VAULT = ("", "-wal", "-shm", ".indexes", ".hooks", ".forgotten")  # suffixes of its name


def adapter(place: str, extra: str = "") -> Any:
    """Return a function that imports and calls ``module:name`` of the adapters, see `lazy`."""
    return lazy(f"adapters.{place}", extra)


def service(place: str) -> Any:
    """Return a function that imports and calls ``module:name`` of the services."""
    return lazy(f"app.services.{place}")


def stores(vault: Any, names: str) -> list[Any]:
    """Return the providers of the stores of *vault* that *names* lists, separated by spaces."""
    return [getattr(vault.provided, name) for name in names.split()]


class Gateways(containers.DeclarativeContainer):
    """Adapters. A `Callable` is called with further arguments; every other provider returns one object."""

    settings = Dependency(instance_of=Settings)
    read_only = Dependency(instance_of=bool, default=False)

    # machine and files
    clock = Singleton(adapter("system.clock:SystemClock"))
    holder = Singleton(holder_id)
    files = Singleton(adapter("files.disk:DiskFiles"))
    single_files = Singleton(adapter("files.disk:DiskFiles"), hard_links=False)
    live_files = Singleton(adapter("files.disk:LiveFiles"))
    watched_folders = Singleton(adapter("files.watching:WatchedFolders"))
    new_files = Singleton(adapter("files.disk:NewDiskFiles"))
    memory_files = Callable(adapter("files.memory_folder:MemoryFolder"))
    parse_yaml = Object(adapter("files.front_matter:parse_yaml"))
    extract_text = Object(adapter("attachments.extraction:extract_text"))
    local_hour = Object(adapter("system.clock:local_hour"))
    run_command = Callable(adapter("system.commands:failure_of_command"))
    editor_of = Callable(adapter("system.commands:editor_of"))
    open_in_editor = Callable(adapter("system.commands:open_in_editor"))

    # conversations and other programs
    transcripts = Singleton(adapter("files.transcripts:DiskTranscripts"))
    redacted_transcripts = Singleton(service("capture.session:RedactedTranscripts"), transcripts)
    conversation_files = Callable(adapter("files.conversation:ConversationFiles"))
    exports = Singleton(
        adapter("conversations.exports:DiskExports"),
        Object(adapter("files.transcripts:messages_in")),
        Object(lazy("domain.documents.encoding:decoded_text")),
    )
    issues = Singleton(adapter("beads.tracker:BeadsTracker"), settings.provided.home)
    agent_sessions = Callable(adapter("sqlite.agent_sessions:OpenClawSessions"))

    # the vault, and the indexes that serve it
    place = Singleton(str, settings.provided.vault)
    records = Resource(adapter("sqlite.vault:open_vault"), place, read_only=read_only)
    indexes = Resource(
        service("indexes.external:ExternalIndexes"),
        records,
        Singleton(
            service("indexes.engines:Engines"),
            Object(backend_named),
            Singleton("{}.indexes".format, place),
            read_only=read_only,
            options=settings.provided.backend_options,
        ),
        Singleton(
            service("indexes.indexer:Indexer"),
            Singleton(
                service("indexes.indexer:IndexedStores"),
                *stores(records, "documents lexical embeddings outbox leases transactions"),
            ),
            clock,
            holder,
            Object(is_gone),
        ),
    )
    vault = Singleton(attrgetter("vault"), indexes)
    forget_log = Singleton(adapter("files.forget_log:ForgetFile"), Singleton("{}.forgotten".format, place))

    # copies and bundles of the vault file
    copy_vault = Callable(adapter("sqlite.snapshot:copy_vault"), place)
    back_up = Callable(adapter("sqlite.snapshot:back_up_vault"), place)
    discard_vault = Callable(adapter("sqlite.repair:discard_vault"), place)
    repair_vault = Callable(adapter("sqlite.repair:repair_vault"), place)
    vault_records = Callable(adapter("sqlite.records:SqliteRecords"), place)
    restore_bundle = Callable(
        service("portability.bundle:restore_records"),
        schema=Singleton(imported_object, "adapters.sqlite.migrations:LATEST"),
        load=Object(adapter("sqlite.records:load_records")),
    )
    new_bundle = Callable(adapter("files.bundle:ZipBundleWriter"))
    bundle = Callable(
        adapter("files.bundle:ZipBundleReader"),
        advise=Object(lazy("domain.portability.other_files:advice_about")),
    )

    # models
    stack: Any = Resource(lambda: ExitStack())  # closes models
    model_selection = Singleton(
        lazy("app.bootstrap.models:ModelSelection"),
        settings,
        Singleton(lambda vault: vault.model_failures, vault).provider,
        clock,
        stack,
        read_only=read_only,
    )
    embedder = model_selection.provided.embedder.model
    generator = model_selection.provided.generator.model
    reranker = model_selection.provided.reranker.model
    model_servers = Callable(lazy("app.bootstrap.models:model_servers"), vault.provided.model_failures, clock)
    late_interaction = Singleton(adapter("models.static:StaticWords"))
    shown_address = Object(adapter("models.addresses:shown"))
    threads = Resource(service("retrieval.scheduling:NamedThreads"))

    # reports, and maintenance of the vault file by a server
    analytics = Callable(adapter("duckdb.analytics:DuckdbAnalytics", extra="duckdb"))
    draw_report = Callable(adapter("matplotlib.plots:draw", extra="duckdb"))
    checkpoint_log = Callable(adapter("sqlite.vault_file:checkpoint_log"))


class UseCases(containers.DeclarativeContainer):
    """Services. A `Callable` is called with further arguments; every other provider returns one object."""

    settings = Dependency(instance_of=Settings)
    gateways = providers.DependenciesContainer()
    vault, clock, files, new_files = gateways.vault, gateways.clock, gateways.files, gateways.new_files
    embedder, generator, reranker = gateways.embedder, gateways.generator, gateways.reranker
    model_selection, late_interaction = gateways.model_selection, gateways.late_interaction
    parse_yaml, store, option = gateways.parse_yaml, vault.provided, settings.provided

    # parts of several use cases
    may_write = Factory(not_, option.read_only)
    publisher = Factory(service("indexing.publish:Publisher"), vault)
    memories = Factory(service("capture.memories:Memories"), store.captures, publisher, clock)
    merged_observations = Factory(
        service("maintenance.grouping:MergedObservations"), *stores(vault, "documents captures"), memories
    )
    knowledge = Factory(
        service("knowledge.model_enrichment:KnowledgeStores"),
        *stores(vault, "documents lexical vectors embeddings entities triples relations notes transactions"),
    )
    plan = Factory(service("maintenance.lanes:read_plan"), option.lanes)
    ask_of = Callable(service("knowledge.asking:ask_of"), *stores(vault, "answers ledger"), generator, clock)
    ask = Factory(ask_of, calls_a_day=plan.provided.daily_calls)

    # collections of files
    folders = Factory(service("indexing.configured:configured_folders"), settings, gateways.extract_text)
    leftovers = Factory(service("indexing.configured:leftovers"), settings, store.documents)
    forgotten_places = Factory(
        service("lifecycle.proof:ForgottenPlaces"),
        *stores(vault, "documents acts transactions"),
        publisher,
        gateways.forget_log,
    )
    collection_stores = Factory(
        service("indexing.update:CollectionStores"),
        *stores(vault, "documents transactions"),
        publisher,
        Factory(service("indexing.claims:NoteClaims"), *stores(vault, "documents successions lexical")),
        Factory(
            service("indexing.claims:LinkTargets"), *stores(vault, "documents links relations transactions")
        ),
        *stores(vault, "acts forgotten_texts"),
    )
    update_alone = Callable(
        service("indexing.update:UpdateCollection"), collection_stores, clock=clock, parse_yaml=parse_yaml
    )
    update_from = Callable(update_alone, forget_again=forgotten_places.provided.agree, roots=option.roots)
    update = Factory(update_from, files)
    sync = Factory(
        service("indexing.syncing:SyncFolder"),
        update_alone.provider,
        files,
        gateways.single_files,
        option.home,
        option.own_files,
    )
    lane = Callable(
        service("maintenance.lane:Lane"),
        leases=store.leases,
        clock=clock,
        holder=gateways.holder,
        is_gone=Object(is_gone),
    )
    watching = Factory(
        service("indexing.watching:VaultWatcher"),
        gateways.watched_folders,
        Factory(update_from, gateways.live_files),
        Factory(lane, "watch"),
    )
    explain_file = Factory(
        service("indexing.file_status:ExplainFile"),
        *stores(vault, "documents forgotten_texts"),
        files,
        folders,
        parse_yaml,
    )
    verify = Factory(service("maintenance.verify:Verify"), vault, files, folders, parse_yaml, clock)

    # questions
    question_embedder = Singleton(
        service("indexing.serving_embedder:ServingEmbedder"),
        store.embeddings,
        embedder.provider,
        model_selection.provided.local,
        by_name=model_selection.provided.names_embedder,
    )
    retrieval_stores = Singleton(
        service("retrieval.stores:RetrievalStores"),
        *stores(vault, "transactions documents successions properties lexical vectors embeddings sketches"),
        *stores(vault, "entities relations answers"),
    )
    models = Factory(service("retrieval.models:Models"), generator, reranker, clock)
    search = Singleton(service("retrieval.pipelines.search:search"), retrieval_stores)
    vsearch = Singleton(service("retrieval.pipelines.search:vsearch"), retrieval_stores, question_embedder)
    openclaw = Singleton(service("retrieval.pipelines.search:openclaw"), retrieval_stores, question_embedder)
    query_of = Callable(
        service("retrieval.pipelines.search:query"), retrieval_stores, question_embedder, late_interaction
    )
    query = Singleton(query_of, models)
    query_without_models = Singleton(query_of)
    intent_search_of = Callable(
        service("retrieval.pipelines.memory_retrieve:intent_search"),
        retrieval_stores,
        question_embedder,
        models=models,
    )
    intent_search = Singleton(intent_search_of)
    query_plan = Singleton(
        service("retrieval.pipelines.query_plan:query_plan"),
        retrieval_stores,
        question_embedder,
        Factory(service("retrieval.pipelines.query_plan:planner"), store.sessions, generator),
    )
    memory_retrieve = Singleton(
        service("retrieval.pipelines.memory_retrieve:MemoryRetrieve"),
        *stores(vault, "documents sessions"),
        Dict(
            search=search.provider,
            vsearch=vsearch.provider,
            query=query.provider,
            intent_search=intent_search.provider,
            query_plan=query_plan.provider,
        ),
    )
    find_similar = Factory(service("retrieval.similar:FindSimilar"), retrieval_stores, question_embedder)
    recalls = Factory(
        service("retrieval.recalls:Recalls"),
        store.telemetry,
        clock,
        store.receipts,
        answers=store.answers,
        enabled=option.records_questions,
        forgets=may_write,
        retention=Factory(
            service("retrieval.recalls:Retention"), option.retention_days, option.kept_receipt_days
        ),
    )
    prompt_surfacing = Callable(
        service("surfacing.prompts:PromptSurfacing"),
        stores=Singleton(
            service("surfacing.stores:SurfacingStores"),
            retrieval_stores,
            *stores(vault, "captures usage receipts acts"),
        ),
        triples=store.triples,
        telemetry=store.telemetry,
        model_failures=store.model_failures,
        clock=clock,
        threads=gateways.threads,
        embedder=embedder.provider,
        local_embedder=model_selection.provided.local.provider,
        late=late_interaction.provider,
        model_servers=gateways.model_servers.provider,
        shown=gateways.shown_address,
    )
    explain = Factory(service("retrieval.receipts:Explain"), *stores(vault, "documents embeddings"))
    why = Factory(
        service("retrieval.replay:ReceiptReader"), *stores(vault, "documents receipts"), explain, clock
    )

    # documents
    lookup = Factory(
        service("documents.lookup:Lookup"),
        Factory(
            service("documents.lookup:AddressResolver"),
            *stores(vault, "documents lexical journal acts"),
            option.roots,
        ),
        *stores(vault, "documents successions"),
    )
    timeline = Factory(
        service("documents.timeline:ReadTimeline"), *stores(vault, "documents successions sessions")
    )
    diary = Factory(service("capture.diary:Diary"), *stores(vault, "documents transactions"), memories, clock)
    remember = Factory(
        service("capture.remembering:Remember"),
        *stores(vault, "documents successions lexical"),
        clock,
        new_files,
        update,
        lookup,
        folders.provider,
        option.inbox,
    )
    profile = Factory(
        service("briefing.profile:Profile"),
        *stores(vault, "documents successions sessions transactions"),
        publisher,
        memories,
        clock,
    )
    session_briefing = Factory(
        service("briefing.session:SessionBriefing"), *stores(vault, "documents successions"), profile, clock
    )
    after_compaction = Factory(
        service("briefing.compaction:AfterCompaction"), *stores(vault, "documents successions"), search, clock
    )
    file_lessons = Factory(service("briefing.file_lessons:FileLessons"), search, clock)

    # captures of sessions
    decision_extractor = Callable(
        service("capture.decisions:DecisionExtractor"),
        *stores(vault, "captures documents lexical relations entities triples model_failures transactions"),
        publisher,
        memories,
        gateways.redacted_transcripts,
        clock,
        generator,
    )
    handoffs = Callable(
        service("capture.handoffs:Handoffs"),
        *stores(vault, "captures documents sessions transactions"),
        memories,
        gateways.redacted_transcripts,
        clock,
        generator,
    )
    feedback_loop = Factory(
        service("capture.feedback:FeedbackLoop"),
        *stores(vault, "captures documents relations telemetry usage transactions"),
        gateways.redacted_transcripts,
        clock,
    )

    # life cycle
    archiving = Factory(
        service("lifecycle.archiving:Archiving"),
        *stores(vault, "documents acts usage transactions"),
        publisher,
        lookup,
        clock,
    )
    tending = Factory(
        service("lifecycle.tending:LifecycleActions"),
        *stores(vault, "documents acts transactions"),
        archiving,
        clock,
    )
    curator = Factory(
        service("lifecycle.examining:Curator"),
        *stores(vault, "documents lexical embeddings telemetry"),
        archiving,
        clock,
    )
    restore = Factory(service("lifecycle.archiving:RestoreArchived"), archiving, files, folders)
    forgetting = Factory(
        service("lifecycle.forgetting:Forgetting"),
        vault,
        publisher,
        Factory(
            service("lifecycle.derived:DerivedMemories"),
            vault,
            publisher,
            memories,
            merged_observations,
            clock,
        ),
        profile,
        clock,
        note=forgotten_places.provided.note,
    )
    sweep = Factory(
        service("lifecycle.archiving:Sweep"),
        archiving,
        forgetting,
        Callable(
            service("lifecycle.archiving:proposals"), *stores(vault, "documents telemetry"), clock
        ).provider,
    )
    prove = Factory(
        service("lifecycle.proof:Prove"),
        vault,
        clock,
        Dict(search=search.provider, vsearch=vsearch.provider, query=query_without_models.provider),
        find_similar.provider,
        timeline,
        Factory(lambda place: [f"{place}{end}" for end in FILES_OF_VAULT], gateways.place),
    )

    # knowledge, with a model or by rules
    make_sketches = Factory(
        service("indexing.embed:SketchPending"), *stores(vault, "documents sketches transactions")
    )
    embed = Factory(
        service("indexing.embed:EmbedPending"),
        *stores(vault, "embeddings transactions"),
        make_sketches,
        embedder,
        older=question_embedder.provided.of,
        by_name=model_selection.provided.names_embedder,
    )
    build_graphs = Factory(
        service("knowledge.graph:BuildGraphs"),
        *stores(vault, "documents relations embeddings vectors"),
        clock,
    )
    causal_links = Factory(service("knowledge.graph:CausalLinks"), *stores(vault, "documents relations"))
    enrich = Callable(service("knowledge.enriching:Enrich"), knowledge, clock)
    consolidation_stores = Factory(
        service("maintenance.consolidation:ConsolidationStores"),
        *stores(vault, "documents entities triples relations journal acts transactions"),
        publisher,
    )
    consolidation = Factory(
        service("maintenance.consolidation:Consolidation"),
        consolidation_stores,
        merged_observations,
        clock,
        ask,
        policy=plan.provided.contradictions,
        thresholds=Factory(
            service("maintenance.grouping:Thresholds"), plan.provided.merge_normal, plan.provided.merge_strict
        ),
        least=plan.provided.least_confidence,
    )
    cleanup = Factory(
        service("maintenance.tidying:Cleanup"),
        *stores(vault, "usage telemetry receipts answers journal transactions"),
        clock,
        option.retention_days,
        option.kept_receipt_days,
        forgets=may_write,
    )
    observations = Factory(
        service("maintenance.deciding:ObservationSelector"),
        *stores(vault, "documents telemetry embeddings vectors"),
    )
    phases = Factory(
        service("maintenance.phases:phases_of"),
        knowledge,
        memories,
        observations,
        clock,
        plan,
        consolidation,
        cleanup,
        ask,
    )
    lanes = Factory(
        service("maintenance.lanes:Lanes"),
        *stores(vault, "journal telemetry"),
        clock,
        lane.provider,
        phases,
        gateways.local_hour,
        plan,
    )

    # conversations and other programs
    mining = Factory(
        service("conversations.mining:MineConversations"),
        Factory(
            service("conversations.mining:ImportStores"),
            *stores(vault, "documents properties captures forgotten_texts transactions"),
            publisher,
        ),
        clock,
        gateways.exports,
    )
    synthesize_facts = Factory(
        service("conversations.synthesis:SynthesizeFacts"),
        *stores(vault, "documents captures relations transactions"),
        memories,
        clock,
        ask,
    )
    memory_import = Callable(
        service("imports.importing:ImportMemories"),
        *stores(vault, "documents entities triples relations acts forgotten_texts transactions"),
        memories,
        clock,
    )
    issue_sync = Factory(
        service("issues:SyncIssues"),
        *stores(vault, "documents properties relations transactions"),
        publisher,
        clock,
        gateways.issues,
        Factory(enrich),
    )
    agent_memory = Callable(
        service("openclaw:AgentMemory"),
        store.documents,
        update_from=update_from.provider,
        withdraw=Callable(
            service("indexing.collections:withdraw_collection"),
            *stores(vault, "documents transactions"),
            publisher,
        ).provider,
        files=files,
    )
    save_session = Factory(
        service("openclaw:SaveSession"), gateways.redacted_transcripts, files, new_files, clock
    )

    # connected clients, and the state of the vault
    embedder_provider = question_embedder.provided.shown_provider.call(model_selection.provided.embedder.how)
    roles = Singleton(
        service("models:Roles"),
        Dict(
            {
                ModelRole.EMBEDDER: embedder_provider.provider,
                ModelRole.GENERATOR: model_selection.provided.generator.how.provider,
                ModelRole.RERANKER: model_selection.provided.reranker.how.provider,
            }
        ),
        store.model_failures,
    )
    client_checks = Factory(
        service("setup.client_checks:ClientChecks"),
        Object(adapter("system.client_commands:hook_answer")),
        Object(adapter("system.client_commands:tool_answer")),
        Object(lazy("app.bootstrap.opening:titles_in")),
    )
    report = Factory(
        service("maintenance.status:Report"),
        *stores(vault, "documents telemetry"),
        clock,
        gateways.analytics.provider,
    )
    status = Factory(
        service("maintenance.status:Status"),
        *stores(vault, "storage documents embeddings notes relations telemetry receipts"),
        clock,
        roles,
    )
    doctor = Factory(
        service("maintenance.doctor:Doctor"),
        vault,
        files,
        folders,
        Factory(
            service("maintenance.model_checks:Models"),
            question_embedder.provided.of_vault,
            generator.provider,
            reranker.provider,
            roles,
        ),
        leftovers=leftovers.provider,
        forget_warnings=forgotten_places.provided.warnings,
    )


class Clawmem(containers.DeclarativeContainer):
    """The program."""

    settings = Dependency(instance_of=Settings)
    read_only = Dependency(instance_of=bool, default=False)
    gateways = providers.Container(Gateways, settings=settings, read_only=read_only)
    use_cases = providers.Container(UseCases, settings=settings, gateways=gateways)
