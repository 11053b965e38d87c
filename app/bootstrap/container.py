"""
The composition root: every use case is provided here once, over the adapters of `gateways`, and imported at its first use.

Tests and other profiles replace a provider by ``override``. `clawmem.app.bootstrap.services` gives the providers types.
"""

from __future__ import annotations

from typing import Any

from clawmem.app.bootstrap.folders import folders_of, leftovers_of
from clawmem.app.bootstrap.gateways import Gateways
from clawmem.app.bootstrap.injector import (
    Container,
    DeclarativeContainer,
    DependenciesContainer,
    Dependency,
    Dict,
    Factory,
    Function,
    Object,
    Singleton,
    factory,
    function,
    singleton,
)
from clawmem.app.environment.process_identity import is_gone
from clawmem.app.settings.model import Settings

FILES_OF_VAULT = ("", "-wal", "-shm", ".indexes", ".hooks", ".forgotten")  # suffixes of its name


def stores(vault: Any, names: str) -> list[Any]:
    """Return the providers of the stores of *vault* that *names* lists, separated by spaces."""
    return [getattr(vault.provided, name) for name in names.split()]


def consolidation_with(ask: object, stores: object, merged: object, clock: object, plan: Any) -> Factory[Any]:
    """Return the provider of a consolidation that asks a model by *ask*, or works by rules alone."""
    return factory(
        "app.services.maintenance.consolidation:Consolidation",
        stores,
        merged,
        clock,
        ask,
        policy=plan.provided.contradictions,
        thresholds=factory(
            "app.services.maintenance.grouping:Thresholds",
            plan.provided.merge_normal,
            plan.provided.merge_strict,
        ),
        least=plan.provided.least_confidence,
    )


class UseCases(DeclarativeContainer):
    """Services. A `Function` is called with further arguments; every other provider returns one object."""

    settings = Dependency(instance_of=Settings)
    gateways = DependenciesContainer()
    vault = gateways.vault
    clock = gateways.clock

    may_write = Factory(lambda settings: not settings.read_only, settings)

    # parts of several use cases
    publisher = factory("app.services.indexing.publish:Publisher", vault)
    memories = factory("app.services.capture.memories:Memories", vault.provided.captures, publisher, clock)
    knowledge = factory(
        "app.services.knowledge.model_enrichment:KnowledgeStores",
        *stores(vault, "documents lexical vectors embeddings entities triples relations notes transactions"),
    )
    plan = factory("app.services.maintenance.lanes:read_plan", settings.provided.lanes)
    ask_of = function(
        "app.services.knowledge.asking:ask_of",
        *stores(vault, "answers ledger"),
        gateways.generator,
        clock,
    )
    ask = Factory(ask_of, calls_a_day=plan.provided.daily_calls)

    # collections of files
    folders = Factory(folders_of, settings)
    leftovers = Factory(leftovers_of, settings, vault.provided.documents)
    forgotten_places = factory("app.services.lifecycle.proof:ForgottenPlaces", vault, gateways.forget_log)
    collection_stores = factory(
        "app.services.indexing.update:CollectionStores",
        *stores(vault, "documents transactions"),
        publisher,
        factory(
            "app.services.indexing.claims:NoteClaims",
            *stores(vault, "documents successions lexical"),
        ),
        factory(
            "app.services.indexing.claims:LinkTargets",
            *stores(vault, "documents links relations transactions"),
        ),
        *stores(vault, "acts forgotten_texts"),
    )
    update_alone = function(
        "app.services.indexing.update:UpdateCollection",
        collection_stores,
        clock=clock,
        parse_yaml=gateways.parse_yaml,
    )
    update_from = Function(
        update_alone, forget_again=forgotten_places.provided.agree, roots=settings.provided.roots
    )
    update = Factory(update_from, gateways.files)
    sync = factory(
        "app.services.indexing.syncing:SyncFolder",
        update_alone.provider,
        gateways.files,
        gateways.single_files,
        settings.provided.home,
        settings.provided.own_files,
    )
    lane = function(
        "app.services.maintenance.lane:Lane",
        leases=vault.provided.leases,
        clock=clock,
        holder=gateways.holder,
        is_gone=Object(is_gone),
    )
    watching = factory(
        "app.services.indexing.watching:VaultWatcher",
        gateways.watched_folders,
        Factory(update_from, gateways.live_files),
        Factory(lane, "watch"),
    )
    explain_file = factory(
        "app.services.indexing.file_status:ExplainFile",
        *stores(vault, "documents forgotten_texts"),
        gateways.files,
        folders,
        gateways.parse_yaml,
    )
    verify = factory(
        "app.services.maintenance.verify:Verify", vault, gateways.files, folders, gateways.parse_yaml, clock
    )

    # questions
    question_embedder = singleton(
        "app.services.indexing.serving_embedder:ServingEmbedder",
        vault.provided.embeddings,
        gateways.embedder.provider,
        gateways.embedder_selection.provided.local,
    )
    retrieval_stores = singleton(
        "app.services.retrieval.stores:RetrievalStores",
        transactions=vault.provided.transactions,
        documents=vault.provided.documents,
        successions=vault.provided.successions,
        properties=vault.provided.properties,
        lexical=vault.provided.lexical,
        vectors=vault.provided.vectors,
        embeddings=vault.provided.embeddings,
        sketches=vault.provided.sketches,
        entities=vault.provided.entities,
        relations=vault.provided.relations,
        answers=vault.provided.answers,
    )
    models = factory("app.services.retrieval.models:Models", gateways.generator, gateways.reranker, clock)
    search = singleton("app.services.retrieval.pipelines.search:search", retrieval_stores)
    vsearch = singleton(
        "app.services.retrieval.pipelines.search:vsearch", retrieval_stores, question_embedder
    )
    openclaw = singleton(
        "app.services.retrieval.pipelines.search:openclaw", retrieval_stores, question_embedder
    )
    query = singleton(
        "app.services.retrieval.pipelines.search:query",
        retrieval_stores,
        question_embedder,
        gateways.late_interaction,
        models,
    )
    query_without_models = singleton(
        "app.services.retrieval.pipelines.search:query",
        retrieval_stores,
        question_embedder,
        gateways.late_interaction,
    )
    intent_search_of = function(
        "app.services.retrieval.pipelines.memory_retrieve:intent_search",
        retrieval_stores,
        question_embedder,
        models=models,
    )
    intent_search = Singleton(intent_search_of)
    query_plan = singleton(
        "app.services.retrieval.pipelines.query_plan:query_plan",
        retrieval_stores,
        question_embedder,
        factory(
            "app.services.retrieval.pipelines.query_plan:planner", vault.provided.sessions, gateways.generator
        ),
    )
    memory_retrieve = singleton(
        "app.services.retrieval.pipelines.memory_retrieve:MemoryRetrieve",
        *stores(vault, "documents sessions"),
        Dict(
            search=search.provider,
            vsearch=vsearch.provider,
            query=query.provider,
            intent_search=intent_search.provider,
            query_plan=query_plan.provider,
        ),
    )
    find_similar = factory("app.services.retrieval.similar:FindSimilar", retrieval_stores, question_embedder)
    recalls = factory(
        "app.services.retrieval.recalls:Recalls",
        vault.provided.telemetry,
        clock,
        vault.provided.receipts,
        answers=vault.provided.answers,
        enabled=Factory(lambda settings: settings.telemetry and not settings.read_only, settings),
        forgets=may_write,
        retention=factory(
            "app.services.retrieval.recalls:Retention",
            settings.provided.retention_days,
            settings.provided.kept_receipt_days,
        ),
    )
    prompt_surfacing = function(
        "app.services.surfacing.prompts:PromptSurfacing",
        stores=singleton(
            "app.services.surfacing.stores:SurfacingStores",
            retrieval_stores,
            captures=vault.provided.captures,
            usage=vault.provided.usage,
            receipts=vault.provided.receipts,
            acts=vault.provided.acts,
        ),
        triples=vault.provided.triples,
        telemetry=vault.provided.telemetry,
        model_failures=vault.provided.model_failures,
        clock=clock,
        threads=gateways.threads,
        embedder=gateways.embedder.provider,
        local_embedder=gateways.embedder_selection.provided.local.provider,
        late=gateways.late_interaction.provider,
        model_servers=gateways.model_servers.provider,
        shown=gateways.shown_address,
    )
    explain = factory(
        "app.services.retrieval.receipts:Explain", vault.provided.documents, vault.provided.embeddings
    )
    why = factory(
        "app.services.retrieval.replay:ReceiptReader",
        *stores(vault, "documents receipts"),
        explain,
        clock,
    )

    # documents
    lookup = factory("app.services.documents.lookup:Lookup", vault, settings.provided.roots)
    timeline = factory("app.services.documents.timeline:ReadTimeline", vault)
    diary = factory("app.services.capture.diary:Diary", vault, clock)
    remember = factory(
        "app.services.capture.remembering:Remember",
        vault,
        clock,
        gateways.new_files,
        update,
        lookup,
        folders.provider,
        settings.provided.inbox,
    )
    session_briefing = factory("app.services.briefing.session:SessionBriefing", vault, clock)
    after_compaction = factory("app.services.briefing.compaction:AfterCompaction", vault, search, clock)
    file_lessons = factory("app.services.briefing.file_lessons:FileLessons", search, clock)
    profile = factory("app.services.briefing.profile:Profile", vault, clock)

    # life cycle
    tending = factory("app.services.lifecycle.tending:LifecycleActions", vault, clock)
    archiving = factory("app.services.lifecycle.archiving:Archiving", vault, clock)
    restore = factory("app.services.lifecycle.archiving:RestoreArchived", archiving, gateways.files, folders)
    forgetting = factory(
        "app.services.lifecycle.forgetting:Forgetting", vault, clock, profile, forgotten_places.provided.note
    )
    sweep = factory(
        "app.services.lifecycle.archiving:Sweep",
        archiving,
        forgetting,
        factory(
            "app.services.lifecycle.archiving:Propose",
            *stores(vault, "documents telemetry"),
            clock,
        ),
    )
    prove = factory(
        "app.services.lifecycle.proof:Prove",
        vault,
        clock,
        Dict(search=search.provider, vsearch=vsearch.provider, query=query_without_models.provider),
        find_similar.provider,
        Factory(lambda place: [f"{place}{end}" for end in FILES_OF_VAULT], gateways.place),
    )

    # knowledge, with a model of *generator* or by rules
    make_sketches = factory(
        "app.services.indexing.embed:SketchPending",
        *stores(vault, "documents sketches transactions"),
    )
    embed = factory(
        "app.services.indexing.embed:EmbedPending",
        *stores(vault, "embeddings transactions"),
        make_sketches,
        gateways.embedder,
        older=question_embedder.provided.of,
        by_name=gateways.embedder_selection.provided.by_name,
    )
    build_graphs = factory("app.services.graph.build:BuildGraphs", vault, clock)
    causal_links = factory("app.services.graph.build:CausalLinks", vault)
    enrich_with_model = factory(
        "app.services.knowledge.enriching:Enrich", knowledge, clock, ask=Factory(ask_of)
    )
    enrich_by_rules = factory("app.services.knowledge.enriching:Enrich", knowledge, clock)
    consolidation_stores = factory(
        "app.services.maintenance.consolidation:ConsolidationStores",
        *stores(vault, "documents entities triples relations journal acts transactions"),
        publisher,
    )
    merged_observations = factory(
        "app.services.maintenance.grouping:MergedObservations",
        *stores(vault, "documents captures"),
        memories,
    )
    consolidation_with_model = consolidation_with(ask, consolidation_stores, merged_observations, clock, plan)
    consolidation_by_rules = consolidation_with(None, consolidation_stores, merged_observations, clock, plan)
    cleanup = factory(
        "app.services.maintenance.tidying:Cleanup",
        *stores(vault, "usage telemetry receipts answers journal transactions"),
        clock,
        settings.provided.retention_days,
        settings.provided.kept_receipt_days,
        forgets=may_write,
    )
    observations = factory(
        "app.services.maintenance.deciding:ObservationSelector",
        *stores(vault, "documents telemetry embeddings vectors"),
    )
    lanes_with_model = factory(
        "app.services.maintenance.lanes:Lanes",
        *stores(vault, "journal telemetry"),
        clock,
        lane.provider,
        factory(
            "app.services.maintenance.phases:phases_of",
            knowledge,
            memories,
            observations,
            clock,
            plan,
            consolidation_with_model,
            cleanup,
            ask,
        ),
        gateways.local_hour,
        plan,
    )
    lanes_by_rules = factory(
        "app.services.maintenance.lanes:Lanes",
        *stores(vault, "journal telemetry"),
        clock,
        lane.provider,
        factory(
            "app.services.maintenance.phases:phases_of",
            knowledge,
            memories,
            observations,
            clock,
            plan,
            consolidation_by_rules,
            cleanup,
            None,
            asks_models=False,
        ),
        gateways.local_hour,
        plan,
    )

    # conversations and other programs
    mining = factory(
        "app.services.conversations.mining:MineConversations",
        factory(
            "app.services.conversations.mining:ImportStores",
            *stores(vault, "documents properties captures forgotten_texts transactions"),
            publisher,
        ),
        clock,
        gateways.exports,
    )
    synthesize_facts = factory(
        "app.services.conversations.synthesis:SynthesizeFacts",
        *stores(vault, "documents captures relations transactions"),
        memories,
        clock,
        ask,
    )
    memory_import = function(
        "app.services.imports.importing:ImportMemories",
        *stores(vault, "documents entities triples relations acts forgotten_texts transactions"),
        memories,
        clock,
    )
    issue_sync = factory(
        "app.services.issues:SyncIssues",
        *stores(vault, "documents properties relations transactions"),
        publisher,
        clock,
        gateways.issues,
        enrich_by_rules,
    )
    agent_memory = function(
        "app.services.openclaw:AgentMemory",
        vault.provided.documents,
        update_from=update_from.provider,
        withdraw=function(
            "app.services.indexing.collections:withdraw_collection",
            *stores(vault, "documents transactions"),
            publisher,
        ).provider,
        files=gateways.files,
    )
    save_session = factory(
        "app.services.openclaw:SaveSession",
        gateways.redacted_transcripts,
        gateways.files,
        gateways.new_files,
        clock,
    )

    # state of the vault
    report = factory(
        "app.services.maintenance.status:Report",
        *stores(vault, "documents telemetry"),
        clock,
        gateways.analytics.provider,
    )
    status = factory(
        "app.services.maintenance.status:Status",
        *stores(vault, "storage documents embeddings notes relations telemetry receipts"),
        clock,
        gateways.roles,
    )
    doctor = factory(
        "app.services.maintenance.doctor:Doctor",
        vault,
        gateways.files,
        folders,
        factory(
            "app.services.maintenance.model_checks:Models",
            gateways.embedder_selection.provided.of_vault,
            gateways.generator.provider,
            gateways.reranker.provider,
            gateways.roles,
        ),
        leftovers=leftovers.provider,
        forget_warnings=forgotten_places.provided.warnings,
    )


class Clawmem(DeclarativeContainer):
    """The program."""

    settings = Dependency(instance_of=Settings)
    read_only = Dependency(instance_of=bool, default=False)
    rest_ms = Dependency(instance_of=int, default=0)
    gateways = Container(Gateways, settings=settings, read_only=read_only, rest_ms=rest_ms)
    use_cases = Container(UseCases, settings=settings, gateways=gateways)
