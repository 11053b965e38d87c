"""
Adapters: every one is provided here once, and imported at its first use.

Tests and other profiles replace a provider by ``override``.
"""

from __future__ import annotations

from contextlib import ExitStack
from operator import attrgetter
from typing import Any

from clawmem.app.bootstrap.backends import backend_named
from clawmem.app.bootstrap.injector import (
    DeclarativeContainer,
    Dependency,
    Dict,
    Object,
    Resource,
    Selector,
    Singleton,
    constant,
    function,
    imported,
    resource,
    singleton,
)
from clawmem.app.environment.process_identity import holder_id, is_gone
from clawmem.app.settings.model import Settings
from clawmem.ports.models import ModelRole


def may_download(settings: Settings, read_only: bool) -> bool:
    """Whether models may be downloaded: neither a question nor a hook waits for a download."""
    return settings.download_models and not (read_only or settings.no_local_models)


class Gateways(DeclarativeContainer):
    """Adapters. A `Function` is called with further arguments; every other provider returns one object."""

    settings = Dependency(instance_of=Settings)
    read_only = Dependency(instance_of=bool, default=False)
    rest_ms = Dependency(instance_of=int, default=0)  # time for which a model that failed is not called

    # machine and files
    clock = singleton("adapters.system.clock:SystemClock")
    holder = Singleton(holder_id)
    files = singleton("adapters.files.disk:DiskFiles")
    single_files = singleton("adapters.files.disk:DiskFiles", hard_links=False)
    live_files = singleton("adapters.files.disk:LiveFiles")
    watched_folders = singleton("adapters.files.watching:WatchedFolders")
    new_files = singleton("adapters.files.new_files:NewDiskFiles")
    memory_files = function("adapters.files.memory_folder:MemoryFolder")
    parse_yaml = imported("adapters.files.front_matter:parse_yaml")
    local_hour = imported("adapters.system.clock:local_hour")
    run_command = function("adapters.system.commands:failure_of_command")
    editor_of = function("adapters.system.commands:editor_of")
    open_in_editor = function("adapters.system.commands:open_in_editor")

    # conversations and other programs
    transcripts = singleton("adapters.files.transcripts:DiskTranscripts")
    redacted_transcripts = singleton("app.services.capture.session:RedactedTranscripts", transcripts)
    conversation_files = function("adapters.files.conversation:ConversationFiles")
    exports = singleton(
        "adapters.conversations.exports:DiskExports",
        imported("adapters.files.transcripts:messages_in"),
        imported("domain.documents.encoding:decoded_text"),
    )
    issues = singleton("adapters.beads.tracker:BeadsTracker", settings.provided.home)
    agent_sessions = function("adapters.sqlite.agent_sessions:OpenClawSessions")

    # the vault, and the indexes that serve it
    place = Singleton(str, settings.provided.vault)
    records = resource("adapters.sqlite.vault:open_vault", place, read_only=read_only)
    indexes = resource(
        "app.services.indexes.external:ExternalIndexes",
        records,
        singleton(
            "app.services.indexes.engines:Engines",
            Object(backend_named),
            Singleton("{}.indexes".format, place),
            read_only=read_only,
            options=settings.provided.backend_options,
        ),
        singleton(
            "app.services.indexes.indexer:Indexer",
            singleton(
                "app.services.indexes.indexer:IndexedStores",
                records.provided.documents,
                records.provided.lexical,
                records.provided.embeddings,
                records.provided.outbox,
                records.provided.leases,
                records.provided.transactions,
            ),
            clock,
            holder,
            Object(is_gone),
        ),
    )
    vault = Singleton(attrgetter("vault"), indexes)
    forget_log = singleton("adapters.files.forget_log:ForgetFile", Singleton("{}.forgotten".format, place))

    # copies and bundles of the vault file
    copy_vault = function("adapters.sqlite.snapshot:copy_vault", place)
    back_up = function("adapters.sqlite.snapshot:back_up_vault", place)
    discard_vault = function("adapters.sqlite.repair:discard_vault", place)
    vault_records = function("adapters.sqlite.records:SqliteRecords", place)
    restore_bundle = function(
        "app.services.portability.bundle:restore_records",
        schema=constant("adapters.sqlite.migrations:LATEST"),
        load=imported("adapters.sqlite.records:load_records"),
    )
    new_bundle = function("adapters.files.bundle:ZipBundleWriter")
    bundle = function(
        "adapters.files.bundle:ZipBundleReader",
        advise=imported("domain.portability.other_files:advice_about"),
    )
    repair_vault = function("adapters.sqlite.repair:repair_vault", place)

    # models
    stack: Resource[Any] = Resource(lambda: ExitStack())  # closes models
    model_context = singleton(
        "app.bootstrap.models:ModelContext", vault.provided.model_failures, clock, stack, rest_ms
    )
    local_models = singleton(
        "app.bootstrap.models:LocalModels",
        Singleton(str, settings.provided.models),
        Singleton(lambda settings: not settings.no_local_models, settings),
        Singleton(may_download, settings, read_only),
    )
    server_embedder = singleton(
        "app.bootstrap.models:served", ModelRole.EMBEDDER, settings.provided.embed_server, model_context
    )
    large_embedder = singleton(
        "app.bootstrap.models:in_process", ModelRole.EMBEDDER, local_models, model_context
    )
    embedder_kind = singleton("app.bootstrap.models:embedder_kind", settings)
    embedder = Selector(
        embedder_kind,
        server=server_embedder.provided.required,
        large=large_embedder.provided.required,
        catalogue=singleton(
            "adapters.models.catalogue:embedder_named", settings.provided.embedder, settings.provided.models
        ),
    )
    embedder_selection = singleton(
        "app.bootstrap.models:EmbedderSelection",
        settings,
        Singleton(lambda vault: vault.embeddings, vault).provider,
        embedder.provider,
        Selector(embedder_kind, server=server_embedder, large=large_embedder).provider,
    )
    generator_choice = singleton(
        "app.bootstrap.models:chosen",
        ModelRole.GENERATOR,
        settings.provided.llm_server,
        local_models,
        model_context,
    )
    generator = generator_choice.provided.model
    reranker_choice = singleton(
        "app.bootstrap.models:chosen",
        ModelRole.RERANKER,
        settings.provided.rerank_server,
        local_models,
        model_context,
    )
    reranker = reranker_choice.provided.model
    late_interaction = singleton("adapters.models.static_words:installed_words")
    roles = singleton(
        "app.services.models:Roles",
        Dict(
            {
                ModelRole.EMBEDDER: embedder_selection.provided.how,
                ModelRole.GENERATOR: generator_choice.provided.how.provider,
                ModelRole.RERANKER: reranker_choice.provided.how.provider,
            }
        ),
        vault.provided.model_failures,
    )

    model_servers = function("app.bootstrap.models:model_servers", vault.provided.model_failures, clock)
    shown_address = imported("adapters.models.addresses:shown")
    threads = resource("app.services.retrieval.scheduling:NamedThreads")

    # upkeep of the vault file by a server
    checkpoint_log = function("adapters.sqlite.vault_file:checkpoint_log")

    # reports
    analytics = function("adapters.duckdb.analytics:DuckdbAnalytics", extra="duckdb")
    draw_report = function("adapters.matplotlib.plots:draw", extra="duckdb")
