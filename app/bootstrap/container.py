"""
The composition root: every adapter and every use case is provided here once, and imported at its first use.

Tests and other profiles replace a provider by ``override``. The annotations are the types of `Services`, which provides
the values.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import fields
from inspect import signature
from operator import attrgetter, not_
from typing import TYPE_CHECKING, Any

from dependency_injector import containers, providers

from clawmem.app.bootstrap.lazy import backend_named, imported_object, lazy
from clawmem.app.environment.places import holder_id, is_gone
from clawmem.app.environment.private_files import files_of_vault, remember_lock, transcript_folder
from clawmem.app.settings.model import Settings
from clawmem.ports.models import ModelRole
from clawmem.ports.storage import LATEST
from clawmem.ports.vault import Vault

if TYPE_CHECKING:
    from clawmem.adapters.files.conversation import ConversationFiles
    from clawmem.app.services.capture.archive import TranscriptArchive
    from clawmem.app.services.capture.briefing import Briefings
    from clawmem.app.services.capture.capturing import SessionCapture
    from clawmem.app.services.capture.memories import Diary
    from clawmem.app.services.capture.remembering import Remember
    from clawmem.app.services.capture.session import RedactedTranscripts
    from clawmem.app.services.capture.visibility import Withheld
    from clawmem.app.services.conversations.mining import MineConversations, SynthesizeFacts
    from clawmem.app.services.documents.file_history import FileReason
    from clawmem.app.services.documents.lookup import Lookup
    from clawmem.app.services.documents.timeline import Timeline
    from clawmem.app.services.indexing.collections import Collection
    from clawmem.app.services.indexing.embed import EmbedPending
    from clawmem.app.services.indexing.file_status import ExplainFile
    from clawmem.app.services.indexing.folders import Folder
    from clawmem.app.services.indexing.publish import Publisher
    from clawmem.app.services.indexing.update import PassReport, UpdateCollection
    from clawmem.app.services.issues import SyncIssues
    from clawmem.app.services.knowledge.graph import BuildGraphs
    from clawmem.app.services.lifecycle.actions import Curator, Lifecycle
    from clawmem.app.services.lifecycle.forgetting import Forgetting
    from clawmem.app.services.maintenance.client_checks import ClientChecks
    from clawmem.app.services.maintenance.consolidation import Consolidation, ObservationSelector
    from clawmem.app.services.maintenance.doctor import Doctor, Verify
    from clawmem.app.services.maintenance.lanes import Lanes
    from clawmem.app.services.maintenance.status import StatusReport, VaultReport
    from clawmem.app.services.openclaw import AgentMemory
    from clawmem.app.services.portability import ImportMemories
    from clawmem.app.services.retrieval.answer import Answer
    from clawmem.app.services.retrieval.pipelines import Pipeline
    from clawmem.app.services.retrieval.plan import MemoryRetrieve
    from clawmem.app.services.retrieval.receipts import Recalls, Receipt
    from clawmem.app.services.surfacing.surface import SurfaceContext
    from clawmem.ports.clients import Clients
    from clawmem.ports.clock import Clock
    from clawmem.ports.files import FileSource
    from clawmem.ports.storage import BundleReader, BundleWriter, SalvageReport, VaultRecords

# `Any`, because the stubs of the library type a provider, and the annotations of attributes here what it provides.
Dependency: Any = providers.Dependency
Dict: Any = providers.Dict
Factory: Any = providers.Factory
Function: Any = providers.Callable
Object: Any = providers.Object
Resource: Any = providers.Resource
Singleton: Any = providers.Singleton
SELF: Any = providers.Self()  # the container of the use cases
STORES = frozenset(field.name for field in fields(Vault))


def adapter(place: str, extra: str = "") -> Any:
    """Return a function that imports and calls ``module:name`` of the adapters, see `lazy`."""
    return lazy(f"adapters.{place}", extra)


def gateway(place: str, *arguments: Any, **named: Any) -> Any:
    """Return the provider of the function or class ``module:name`` of the adapters, with its first arguments."""
    return Function(adapter(place), *arguments, **named)


def service(place: str) -> Any:
    """
    Return a function that imports and calls ``module:name`` of the services with what the container provides.

    A parameter that the caller leaves out gets what the provider of its name provides, or the store of that name. It
    gets the provider itself where that is a function, or where the parameter is a function without arguments.
    """

    def call(use_cases: Any, *arguments: Any, **named: Any) -> Any:
        imported, gateways = imported_object(f"app.services.{place}"), use_cases.gateways()
        parameters = signature(imported).parameters
        named |= zip(parameters, arguments, strict=False)
        for name, parameter in parameters.items():
            provider = use_cases.providers.get(name) or gateways.providers.get(name)
            if name in named:
                continue
            if provider:
                is_function = isinstance(provider, Function) or "Callable[[]" in str(parameter.annotation)
                named[name] = provider if is_function else provider()
            elif name in STORES:
                named[name] = getattr(gateways.vault(), name)
        return imported(**named)

    return call


def function(place: str, **named: Any) -> Any:
    """Return the provider of the function or class ``module:name`` of the services, see `service`."""
    return Function(service(place), SELF, **named)


def use_case(place: str, **named: Any) -> Any:
    """Return the provider of a new object of the class ``module:name`` of the services, see `service`."""
    return Factory(service(place), SELF, **named)


def shared(place: str, **named: Any) -> Any:
    """Return the provider of one object of the class ``module:name`` of the services, see `service`."""
    return Singleton(service(place), SELF, **named)


class Gateways(containers.DeclarativeContainer):
    """Adapters. A `Function` is called with further arguments; every other provider returns one object."""

    settings = Dependency(instance_of=Settings)
    read_only = Dependency(instance_of=bool, default=False)

    # machine and files
    clock: Clock = Singleton(adapter("system.clock:SystemClock"))
    holder = Singleton(holder_id)
    is_gone = Object(is_gone)
    files: FileSource = Singleton(
        adapter("files.commits:CommitFiles"), Singleton(adapter("files.disk:DiskFiles"))
    )
    single_files = Singleton(adapter("files.disk:DiskFiles"), hard_links=False)
    watcher = Singleton(adapter("files.watching:WatchedFolders"))
    new_files = Singleton(adapter("files.disk:NewDiskFiles"))
    memory_files: Callable[[str], Any] = gateway("files.memory_folder:MemoryFolder")
    parse_front_matter = Object(adapter("files.front_matter:parse_front_matter"))
    extract = Object(adapter("attachments.extraction:extract_text"))
    run_command: Callable[..., str] = gateway("system.commands:failure_of_command")

    # conversations and other programs
    transcripts: RedactedTranscripts = Singleton(
        lazy("app.services.capture.session:RedactedTranscripts"),
        Singleton(adapter("files.transcripts:DiskTranscripts")),
    )
    conversation_files: Callable[..., ConversationFiles] = gateway("files.conversation:ConversationFiles")
    exports = Singleton(
        adapter("conversations.exports:DiskExports"),
        Object(adapter("files.transcripts:messages_in")),
        Object(lambda data: lazy("domain.documents.encoding:decode")(data)[0]),
    )
    tracker = Singleton(adapter("beads.tracker:BeadsTracker"), settings.provided.home)
    agent_sessions: Callable[..., Any] = gateway("sqlite.agent_sessions:OpenClawSessions")
    clients: Clients = Singleton(adapter("clients.installed:InstalledClients"), Object(os.environ))
    hook_answer = Object(adapter("system.commands:hook_answer"))
    tool_answer = Object(adapter("system.commands:tool_answer"))

    # the vault, and the indexes that serve it
    place = Singleton(str, settings.provided.vault)
    records = Resource(adapter("sqlite.vault:open_vault"), place, read_only=read_only, holder=holder)
    indexes = Resource(
        lazy("app.services.indexing.external:ExternalIndexes"),
        records,
        Singleton(
            lazy("app.services.indexing.replication:Engines"),
            Object(backend_named),
            Singleton("{}.indexes".format, place),
            read_only=read_only,
            options=settings.provided.backend_options,
        ),
        Singleton(lazy("app.services.indexing.replication:Indexer"), records, clock, holder, is_gone),
    )
    vault = Singleton(attrgetter("vault"), indexes)
    forget_log = Singleton(adapter("files.forget_log:ForgetFile"), Singleton("{}.forgotten".format, place))

    # copies and bundles of the vault file
    copy_vault: Callable[..., bool] = gateway("sqlite.repair:copy_vault", place)
    back_up: Callable[[str], int] = gateway("sqlite.repair:back_up_vault", place)
    discard_vault: Callable[[], None] = gateway("sqlite.repair:discard_vault", place)
    discard_unused_vault: Callable[[], None] = gateway("sqlite.repair:discard_unused_vault", place)
    repair_vault: Callable[[str, str], SalvageReport] = gateway("sqlite.repair:repair_vault", place)
    reading_damaged: Callable[[], Any] = gateway("sqlite.repair:reading_damaged", place)
    vault_records: Callable[[], AbstractContextManager[VaultRecords]] = gateway(
        "sqlite.records:open_records", place
    )
    restore_bundle: Callable[..., str] = Function(
        lazy("app.services.portability:restore_records"),
        schema=Object(LATEST),
        load=Object(adapter("sqlite.records:load_records")),
    )
    new_bundle: Callable[..., BundleWriter] = gateway("files.bundle:ZipBundleWriter")
    bundle: Callable[..., BundleReader] = gateway("files.bundle:ZipBundleReader")

    # models
    stack = Resource(lambda: ExitStack())  # closes models
    model_selection = Singleton(
        lazy("app.bootstrap.models:ModelSelection"),
        settings,
        Singleton(lambda vault: vault.model_failures, vault).provider,
        clock,
        stack,
    )
    embedder = model_selection.provided.embedder.model
    generator = model_selection.provided.generator.model
    reranker = model_selection.provided.reranker.model
    model_servers = Function(lazy("app.bootstrap.models:model_servers"), vault.provided.model_failures, clock)
    late = Singleton(adapter("models.local:StaticWords"))  # late interaction
    shown = Object(adapter("models.server:shown"))
    threads = Resource(lazy("app.services.retrieval.retrieve:NamedThreads"))

    # reports, and maintenance of the vault file by a server
    open_analytics = Function(adapter("duckdb.analytics:DuckdbAnalytics", extra="duckdb"))
    checkpoint_log = gateway("sqlite.vault_file:checkpoint_log")


class UseCases(containers.DeclarativeContainer):
    """
    Services, see `service`. A `Function` is called with further arguments.

    What another provider here works on is not annotated: it is a provider in this class, and a value in `Services`.
    """

    __self__ = SELF
    settings = Dependency(instance_of=Settings)
    gateways: Any = providers.DependenciesContainer()
    option, selection = settings.provided, gateways.model_selection.provided

    # parts of several use cases
    forgets = Factory(not_, option.read_only)
    retention = use_case(
        "retrieval.receipts:Retention", recall_days=option.retention_days, receipt_days=option.receipt_days
    )
    by_name = selection.names_embedder
    publisher: Publisher = use_case("indexing.publish:Publisher")
    memories = use_case("capture.memories:Memories")
    plan = option.lanes
    ask_of = function("knowledge.asking:ask_of")
    ask = Factory(ask_of, calls_a_day=plan.daily_calls)

    # collections of files
    folders: list[Folder] = use_case("indexing.collections:configured_folders")
    collections: list[Collection] = use_case("indexing.collections:collections_of")
    policy_faults: list[str] = use_case("indexing.collections:policy_faults")
    settings_faults: list[str] = use_case("indexing.collections:settings_faults")
    leftovers: list[str] = use_case("indexing.collections:leftovers")
    forgotten_places = use_case("lifecycle.forgetting:ForgottenPlaces")
    link_targets = use_case("indexing.update:LinkTargets")
    update_alone = function(
        "indexing.update:UpdateCollection", claims=use_case("indexing.update:NoteClaims"), links=link_targets
    )
    update_from = Function(update_alone, forget_again=forgotten_places.provided.agree, roots=option.roots)
    update: UpdateCollection = Factory(update_from)
    sync: Callable[..., PassReport] = function(
        "indexing.syncing:sync_folder", home=option.home, own=option.own_files, vault=option.named
    )
    work_lease = function("leases:WorkLease")
    watching: Callable[..., None] = function(
        "indexing.watching:keep_watch", lease=Factory(work_lease, "watch")
    )
    watch_state: Callable[[], str] = function("indexing.watching:watch_state")
    explain_file: ExplainFile = use_case("indexing.file_status:ExplainFile")
    verify: Verify = use_case("maintenance.doctor:Verify")

    # questions
    embedder = shared("models:ServingEmbedder", chosen=gateways.embedder.provider, local=selection.local)
    stores = shared("retrieval.work:RetrievalStores")  # of every question
    question_models = use_case("retrieval.models:Models")
    query_of = function("retrieval.pipelines:query")
    intent_search_of = function("retrieval.pipelines:intent_search", models=question_models)
    search = shared("retrieval.pipelines:search")
    vsearch = shared("retrieval.pipelines:vsearch")
    openclaw: Pipeline = shared("retrieval.pipelines:openclaw")
    query = Singleton(query_of, models=question_models)
    query_without_models = Singleton(query_of)
    intent_search = Singleton(intent_search_of)
    planner = function("retrieval.plan:planned")
    query_plan = shared("retrieval.plan:QueryPlan")
    memory_retrieve: MemoryRetrieve = shared(
        "retrieval.plan:MemoryRetrieve",
        pipelines=Dict(
            search=search.provider,
            vsearch=vsearch.provider,
            query=query.provider,
            intent_search=intent_search.provider,
            query_plan=query_plan.provider,
        ),
    )
    find_similar: Callable[..., Answer] = function("retrieval.pipelines:find_similar")
    recalls: Recalls = use_case(
        "retrieval.receipts:Recalls", enabled=Factory(all, providers.List(option.telemetry, forgets))
    )
    prompt_surfacing: Callable[..., SurfaceContext] = function("surfacing.surface:SurfaceContext")
    explain: Callable[..., Receipt] = function("retrieval.receipts:explain")

    # documents
    lookup: Lookup = use_case("documents.lookup:Lookup", roots=option.roots)
    file_history: Callable[..., list[FileReason]] = function("documents.file_history:file_history")
    timeline: Callable[..., Timeline] = function("documents.timeline:read_timeline")
    diary: Diary = use_case("capture.memories:Diary")
    remember: Remember = use_case(
        "capture.remembering:Remember", inbox=option.inbox, lock_file=Factory(remember_lock, option.vault)
    )
    withheld: Withheld = use_case("capture.visibility:Withheld")
    reminders: Callable[..., str] = function("surfacing.reminders:reminders")
    briefings: Briefings = use_case("capture.briefing:Briefings")

    # captures of sessions
    transcript_archive: TranscriptArchive = use_case(
        "capture.archive:TranscriptArchive",
        folder=Factory(transcript_folder, option.vault),
        most_mb=option.transcripts_mb,
    )
    session_capture: Callable[..., SessionCapture] = function("capture.capturing:SessionCapture")
    save_session: Callable[..., str] = function("openclaw:save_session")

    # life cycle
    lifecycle: Lifecycle = use_case("lifecycle.actions:Lifecycle")
    curator: Curator = use_case("lifecycle.actions:Curator")
    forgetting: Forgetting = use_case(
        "lifecycle.forgetting:Forgetting", note=forgotten_places.provided.complete, roots=option.roots
    )
    prove: Callable[..., dict[str, list[str]]] = function(
        "lifecycle.forgetting:prove",
        pipelines=Dict(search=search.provider, query=query_without_models.provider),
        places=Factory(lambda vault: [*map(str, files_of_vault(vault))], option.vault),
    )

    # knowledge, with a model or by rules
    embed: EmbedPending = use_case(
        "indexing.embed:EmbedPending", embedder=gateways.embedder, of_vault=embedder.provided.for_new_texts
    )
    build_graphs: BuildGraphs = use_case("knowledge.graph:BuildGraphs")
    enrich = function("knowledge.enriching:Enrich")
    consolidation: Consolidation = use_case(
        "maintenance.consolidation:Consolidation",
        policy=plan.contradictions,
        normal=plan.merge_normal,
        strict=plan.merge_strict,
        least=plan.min_confidence,
    )
    synthesis = use_case("maintenance.lanes:Synthesis")
    cleanup = function("maintenance.lanes:clean_up")
    observations: ObservationSelector = use_case("maintenance.consolidation:ObservationSelector")
    phases = use_case("maintenance.lanes:Phases")
    lanes: Lanes = use_case("maintenance.lanes:Lanes")

    # conversations and other programs
    mining: MineConversations = use_case("conversations.mining:MineConversations")
    synthesize_facts: SynthesizeFacts = use_case("conversations.mining:SynthesizeFacts")
    memory_import: Callable[..., ImportMemories] = function("portability:ImportMemories")
    issue_sync: SyncIssues = use_case("issues:SyncIssues", enrich=Factory(enrich, ask=None))
    agent_memory: Callable[..., AgentMemory] = function(
        "openclaw:AgentMemory", withdraw=function("indexing.collections:withdraw_collection").provider
    )

    # connected clients, and the state of the vault
    language_advice: Callable[..., str] = function(
        "models:language_advice", embedder=selection.embedder.how.chosen
    )
    embedder_provider = embedder.provided.shown_provider.call(selection.embedder.how)
    roles = use_case(
        "models:roles",
        chosen=Dict(
            {
                ModelRole.EMBEDDER: embedder_provider.provider,
                ModelRole.GENERATOR: selection.generator.how.provider,
                ModelRole.RERANKER: selection.reranker.how.provider,
            }
        ),
    )
    client_checks: ClientChecks = use_case("maintenance.client_checks:ClientChecks")
    report: Callable[..., VaultReport] = function("maintenance.status:report")
    status: Callable[[], StatusReport] = function("maintenance.status:status_of", read_only=option.read_only)
    doctor: Doctor = use_case(
        "maintenance.doctor:Doctor",
        embedder=embedder.provided.of_vault,
        forget_warnings=forgotten_places.provided.warnings,
    )


class Clawmem(containers.DeclarativeContainer):
    """The program."""

    settings = Dependency(instance_of=Settings)
    read_only = Dependency(instance_of=bool, default=False)
    gateways = providers.Container(Gateways, settings=settings, read_only=read_only)
    use_cases = providers.Container(UseCases, settings=settings, gateways=gateways)
