"""
The composition root: every adapter and every use case is provided here once, and imported at its first use.

Tests and other profiles replace a provider by ``override``. `clawmem.app.bootstrap.services` gives the providers types.
"""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
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


def factory(place: str, *arguments: Any, **named: Any) -> Any:
    """Return the provider of a new object of the class ``module:name`` of the services for each call."""
    return Factory(service(place), *arguments, **named)


def singleton(place: str, *arguments: Any, **named: Any) -> Any:
    """Return the provider of one object of the class ``module:name`` of the services."""
    return Singleton(service(place), *arguments, **named)


def function(place: str, *arguments: Any, **named: Any) -> Any:
    """Return the provider of the function ``module:name`` of the services with its first arguments."""
    return Callable(service(place), *arguments, **named)


def stores_of(vault: Any, names: str) -> list[Any]:
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
                *stores_of(records, "documents lexical embeddings outbox leases transactions"),
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

    stores = partial(stores_of, vault)

    # parts of several use cases
    may_write = Factory(not_, option.read_only)
    publisher = factory("indexing.publish:Publisher", vault)
    memories = factory("capture.memories:Memories", store.captures, publisher, clock)
    merged_observations = factory(
        "maintenance.grouping:MergedObservations", *stores("documents captures"), memories
    )
    knowledge = factory(
        "knowledge.model_enrichment:KnowledgeStores",
        *stores("documents lexical vectors embeddings entities triples relations notes transactions"),
    )
    plan = factory("maintenance.lanes:read_plan", option.lanes)
    ask_of = function("knowledge.asking:ask_of", *stores("answers ledger"), generator, clock)
    ask = Factory(ask_of, calls_a_day=plan.provided.daily_calls)

    # collections of files
    folders = factory("indexing.configured:configured_folders", settings, gateways.extract_text)
    leftovers = factory("indexing.configured:leftovers", settings, store.documents)
    forgotten_places = factory(
        "lifecycle.proof:ForgottenPlaces",
        *stores("documents acts transactions"),
        publisher,
        gateways.forget_log,
    )
    collection_stores = factory(
        "indexing.update:CollectionStores",
        *stores("documents transactions"),
        publisher,
        factory("indexing.claims:NoteClaims", *stores("documents successions lexical")),
        factory("indexing.claims:LinkTargets", *stores("documents links relations transactions")),
        *stores("acts forgotten_texts"),
    )
    update_alone = function(
        "indexing.update:UpdateCollection", collection_stores, clock=clock, parse_yaml=parse_yaml
    )
    update_from = Callable(update_alone, forget_again=forgotten_places.provided.agree, roots=option.roots)
    update = Factory(update_from, files)
    sync = factory(
        "indexing.syncing:SyncFolder",
        update_alone.provider,
        files,
        gateways.single_files,
        option.home,
        option.own_files,
    )
    lane = function(
        "maintenance.lane:Lane",
        leases=store.leases,
        clock=clock,
        holder=gateways.holder,
        is_gone=Object(is_gone),
    )
    watching = factory(
        "indexing.watching:VaultWatcher",
        gateways.watched_folders,
        Factory(update_from, gateways.live_files),
        Factory(lane, "watch"),
    )
    explain_file = factory(
        "indexing.file_status:ExplainFile", *stores("documents forgotten_texts"), files, folders, parse_yaml
    )
    verify = factory(
        "maintenance.verify:Verify",
        *stores("documents storage lexical vectors embeddings forgotten_texts"),
        files,
        folders,
        parse_yaml,
        clock,
    )

    # questions
    question_embedder = singleton(
        "indexing.serving_embedder:ServingEmbedder",
        store.embeddings,
        embedder.provider,
        model_selection.provided.local,
        by_name=model_selection.provided.names_embedder,
    )
    retrieval_stores = singleton(
        "retrieval.stores:RetrievalStores",
        *stores("transactions documents successions properties lexical vectors embeddings sketches"),
        *stores("entities relations answers"),
    )
    models = factory("retrieval.models:Models", generator, reranker, clock)
    search = singleton("retrieval.pipelines.search:search", retrieval_stores)
    vsearch = singleton("retrieval.pipelines.search:vsearch", retrieval_stores, question_embedder)
    openclaw = singleton("retrieval.pipelines.search:openclaw", retrieval_stores, question_embedder)
    query_of = function(
        "retrieval.pipelines.search:query", retrieval_stores, question_embedder, late_interaction
    )
    query = Singleton(query_of, models)
    query_without_models = Singleton(query_of)
    intent_search_of = function(
        "retrieval.pipelines.memory_retrieve:intent_search",
        retrieval_stores,
        question_embedder,
        models=models,
    )
    intent_search = Singleton(intent_search_of)
    query_plan = singleton(
        "retrieval.pipelines.query_plan:query_plan",
        retrieval_stores,
        question_embedder,
        factory("retrieval.pipelines.query_plan:planner", store.sessions, generator),
    )
    memory_retrieve = singleton(
        "retrieval.pipelines.memory_retrieve:MemoryRetrieve",
        *stores("documents sessions"),
        Dict(
            search=search.provider,
            vsearch=vsearch.provider,
            query=query.provider,
            intent_search=intent_search.provider,
            query_plan=query_plan.provider,
        ),
    )
    find_similar = factory("retrieval.similar:FindSimilar", retrieval_stores, question_embedder)
    recalls = factory(
        "retrieval.recalls:Recalls",
        store.telemetry,
        clock,
        store.receipts,
        answers=store.answers,
        enabled=option.records_questions,
        forgets=may_write,
        retention=factory("retrieval.recalls:Retention", option.retention_days, option.kept_receipt_days),
    )
    prompt_surfacing = function(
        "surfacing.prompts:PromptSurfacing",
        stores=singleton(
            "surfacing.stores:SurfacingStores", retrieval_stores, *stores("captures usage receipts acts")
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
    explain = factory("retrieval.receipts:Explain", *stores("documents embeddings"))
    why = factory("retrieval.receipts:ReceiptReader", store.receipts)

    # documents
    lookup = factory(
        "documents.lookup:Lookup",
        factory("documents.lookup:AddressResolver", *stores("documents lexical journal acts"), option.roots),
        *stores("documents successions"),
    )
    timeline = factory("documents.timeline:ReadTimeline", *stores("documents successions sessions"))
    diary = factory("capture.diary:Diary", *stores("documents transactions"), memories, clock)
    remember = factory(
        "capture.remembering:Remember",
        *stores("documents successions lexical"),
        clock,
        new_files,
        update,
        lookup,
        folders.provider,
        option.inbox,
    )
    profile = factory(
        "briefing.profile:Profile",
        *stores("documents successions sessions transactions"),
        publisher,
        memories,
        clock,
    )
    session_briefing = factory(
        "briefing.session:SessionBriefing", *stores("documents successions"), profile, clock
    )
    after_compaction = factory(
        "briefing.compaction:AfterCompaction", *stores("documents successions"), search, clock
    )
    file_lessons = factory("briefing.file_lessons:FileLessons", search, clock)

    # captures of sessions
    decision_extractor = function(
        "capture.decisions:DecisionExtractor",
        *stores("captures documents lexical relations entities triples model_failures transactions"),
        publisher,
        memories,
        gateways.redacted_transcripts,
        clock,
        generator,
    )
    handoffs = function(
        "capture.handoffs:Handoffs",
        *stores("captures documents sessions transactions"),
        memories,
        gateways.redacted_transcripts,
        clock,
        generator,
    )
    feedback_loop = factory(
        "capture.feedback:FeedbackLoop",
        *stores("captures documents relations telemetry usage transactions"),
        gateways.redacted_transcripts,
        clock,
    )

    # life cycle
    archiving = factory(
        "lifecycle.archiving:Archiving",
        *stores("documents acts usage transactions"),
        publisher,
        lookup,
        clock,
    )
    tending = factory(
        "lifecycle.tending:LifecycleActions", *stores("documents acts transactions"), archiving, clock
    )
    curator = factory(
        "lifecycle.examining:Curator", *stores("documents lexical embeddings telemetry"), archiving, clock
    )
    restore = factory("lifecycle.archiving:RestoreArchived", archiving, files, folders)
    forgetting = factory(
        "lifecycle.forgetting:Forgetting",
        vault,
        publisher,
        factory("lifecycle.derived:DerivedMemories", vault, publisher, memories, merged_observations, clock),
        profile,
        clock,
        note=forgotten_places.provided.note,
    )
    sweep = factory(
        "lifecycle.archiving:Sweep",
        archiving,
        forgetting,
        function("lifecycle.archiving:proposals", *stores("documents telemetry"), clock).provider,
    )
    prove = factory(
        "lifecycle.proof:Prove",
        vault,
        clock,
        Dict(search=search.provider, vsearch=vsearch.provider, query=query_without_models.provider),
        find_similar.provider,
        timeline,
        Factory(lambda place: [f"{place}{end}" for end in FILES_OF_VAULT], gateways.place),
    )

    # knowledge, with a model or by rules
    make_sketches = factory("indexing.embed:SketchPending", *stores("documents sketches transactions"))
    embed = factory(
        "indexing.embed:EmbedPending",
        *stores("embeddings transactions"),
        make_sketches,
        embedder,
        older=question_embedder.provided.of,
        by_name=model_selection.provided.names_embedder,
    )
    build_graphs = factory(
        "knowledge.graph:BuildGraphs", *stores("documents relations embeddings vectors"), clock
    )
    causal_links = factory("knowledge.graph:CausalLinks", *stores("documents relations"))
    enrich = function("knowledge.enriching:Enrich", knowledge, clock)
    consolidation_stores = factory(
        "maintenance.consolidation:ConsolidationStores",
        *stores("documents entities triples relations journal acts transactions"),
        publisher,
    )
    consolidation = factory(
        "maintenance.consolidation:Consolidation",
        consolidation_stores,
        merged_observations,
        clock,
        ask,
        policy=plan.provided.contradictions,
        thresholds=factory(
            "maintenance.grouping:Thresholds", plan.provided.merge_normal, plan.provided.merge_strict
        ),
        least=plan.provided.least_confidence,
    )
    cleanup = factory(
        "maintenance.tidying:Cleanup",
        *stores("usage telemetry receipts answers journal transactions"),
        clock,
        option.retention_days,
        option.kept_receipt_days,
        forgets=may_write,
    )
    observations = factory(
        "maintenance.deciding:ObservationSelector", *stores("documents telemetry embeddings vectors")
    )
    phases = factory(
        "maintenance.phases:phases_of",
        knowledge,
        memories,
        observations,
        clock,
        plan,
        consolidation,
        cleanup,
        ask,
    )
    lanes = factory(
        "maintenance.lanes:Lanes",
        *stores("journal telemetry"),
        clock,
        lane.provider,
        phases,
        gateways.local_hour,
        plan,
    )

    # conversations and other programs
    mining = factory(
        "conversations.mining:MineConversations",
        factory(
            "conversations.mining:ImportStores",
            *stores("documents properties captures forgotten_texts transactions"),
            publisher,
        ),
        clock,
        gateways.exports,
    )
    synthesize_facts = factory(
        "conversations.synthesis:SynthesizeFacts",
        *stores("documents captures relations transactions"),
        memories,
        clock,
        ask,
    )
    memory_import = function(
        "imports.importing:ImportMemories",
        *stores("documents entities triples relations acts forgotten_texts transactions"),
        memories,
        clock,
    )
    issue_sync = factory(
        "issues:SyncIssues",
        *stores("documents properties relations transactions"),
        publisher,
        clock,
        gateways.issues,
        Factory(enrich),
    )
    agent_memory = function(
        "openclaw:AgentMemory",
        store.documents,
        update_from=update_from.provider,
        withdraw=function(
            "indexing.collections:withdraw_collection", *stores("documents transactions"), publisher
        ).provider,
        files=files,
    )
    save_session = factory("openclaw:SaveSession", gateways.redacted_transcripts, files, new_files, clock)

    # connected clients, and the state of the vault
    embedder_provider = question_embedder.provided.shown_provider.call(model_selection.provided.embedder.how)
    roles = singleton(
        "models:Roles",
        Dict(
            {
                ModelRole.EMBEDDER: embedder_provider.provider,
                ModelRole.GENERATOR: model_selection.provided.generator.how.provider,
                ModelRole.RERANKER: model_selection.provided.reranker.how.provider,
            }
        ),
        store.model_failures,
    )
    client_checks = factory(
        "setup.client_checks:ClientChecks",
        Object(adapter("system.client_commands:hook_answer")),
        Object(adapter("system.client_commands:tool_answer")),
        Object(lazy("app.bootstrap.opening:titles_in")),
    )
    report = factory(
        "maintenance.status:Report", *stores("documents telemetry"), clock, gateways.analytics.provider
    )
    status = factory(
        "maintenance.status:Status",
        *stores("storage documents embeddings notes relations telemetry receipts"),
        clock,
        roles,
    )
    doctor = factory(
        "maintenance.doctor:Doctor",
        *stores("documents storage lexical vectors embeddings successions links"),
        files,
        folders,
        factory(
            "maintenance.model_checks:Models",
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
