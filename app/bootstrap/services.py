"""Typed access to the providers of an opened vault, for operations and interfaces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from clawmem.app.services.progress import ProgressOf, no_progress

if TYPE_CHECKING:  # every module of a service is imported when the service is used
    from clawmem.adapters.files.conversation import ConversationFiles
    from clawmem.app.bootstrap.container import Clawmem
    from clawmem.app.bootstrap.models import ModelSelection
    from clawmem.app.services.briefing.compaction import AfterCompaction
    from clawmem.app.services.briefing.file_lessons import FileLessons
    from clawmem.app.services.briefing.profile import Profile
    from clawmem.app.services.briefing.session import SessionBriefing
    from clawmem.app.services.capture.decisions import DecisionExtractor
    from clawmem.app.services.capture.diary import Diary
    from clawmem.app.services.capture.feedback import FeedbackLoop
    from clawmem.app.services.capture.handoffs import Handoffs
    from clawmem.app.services.capture.remembering import Remember
    from clawmem.app.services.capture.session import RedactedTranscripts
    from clawmem.app.services.conversations.mining import MineConversations
    from clawmem.app.services.conversations.synthesis import SynthesizeFacts
    from clawmem.app.services.documents.lookup import Lookup
    from clawmem.app.services.documents.timeline import ReadTimeline
    from clawmem.app.services.imports.importing import ImportMemories
    from clawmem.app.services.indexes.external import ExternalIndexes
    from clawmem.app.services.indexing.embed import EmbedPending
    from clawmem.app.services.indexing.file_status import ExplainFile
    from clawmem.app.services.indexing.folders import Folder
    from clawmem.app.services.indexing.publish import Publisher
    from clawmem.app.services.indexing.syncing import SyncFolder
    from clawmem.app.services.indexing.update import UpdateCollection
    from clawmem.app.services.indexing.watching import VaultWatcher
    from clawmem.app.services.issues import SyncIssues
    from clawmem.app.services.knowledge.asking import Ask
    from clawmem.app.services.knowledge.enriching import Enrich
    from clawmem.app.services.knowledge.graph import BuildGraphs, CausalLinks
    from clawmem.app.services.lifecycle.archiving import Archiving, RestoreArchived, Sweep
    from clawmem.app.services.lifecycle.examining import Curator
    from clawmem.app.services.lifecycle.forgetting import Forgetting
    from clawmem.app.services.lifecycle.proof import ForgottenPlaces, Prove
    from clawmem.app.services.lifecycle.tending import LifecycleActions
    from clawmem.app.services.maintenance.consolidation import Consolidation
    from clawmem.app.services.maintenance.deciding import ObservationSelector
    from clawmem.app.services.maintenance.doctor import Doctor
    from clawmem.app.services.maintenance.lanes import Lanes
    from clawmem.app.services.maintenance.status import Report, Status
    from clawmem.app.services.maintenance.verify import Verify
    from clawmem.app.services.openclaw import AgentMemory, SaveSession
    from clawmem.app.services.portability.bundle import RestoredBundle
    from clawmem.app.services.retrieval.pipeline import Pipeline
    from clawmem.app.services.retrieval.pipelines.memory_retrieve import IntentSearch, MemoryRetrieve
    from clawmem.app.services.retrieval.pipelines.query_plan import QueryPlan
    from clawmem.app.services.retrieval.recalls import Recalls
    from clawmem.app.services.retrieval.receipts import Explain, ReceiptReader
    from clawmem.app.services.retrieval.similar import FindSimilar
    from clawmem.app.services.setup.client_checks import ClientChecks
    from clawmem.app.services.surfacing.prompts import PromptSurfacing
    from clawmem.app.settings.model import Settings
    from clawmem.ports.analytics import VaultReport
    from clawmem.ports.clock import Clock
    from clawmem.ports.files import FileSource
    from clawmem.ports.journal import ForgetLog
    from clawmem.ports.models import Generator
    from clawmem.ports.storage import BundleReader, BundleWriter, SalvageReport, VaultRecords
    from clawmem.ports.vault import Vault


class Provided:
    """
    The types of providers that operations and interfaces use.

    An attribute is the provider of the same name in `clawmem.app.bootstrap.container`, called; a `Callable` there is
    a method here.
    """

    settings: Settings
    clock: Clock
    vault: Vault
    indexes: ExternalIndexes
    files: FileSource
    redacted_transcripts: RedactedTranscripts
    forget_log: ForgetLog
    generator: Generator | None
    model_selection: ModelSelection

    after_compaction: AfterCompaction
    archiving: Archiving
    build_graphs: BuildGraphs
    causal_links: CausalLinks
    client_checks: ClientChecks
    consolidation: Consolidation
    curator: Curator
    diary: Diary
    doctor: Doctor
    embed: EmbedPending
    explain: Explain
    explain_file: ExplainFile
    file_lessons: FileLessons
    feedback_loop: FeedbackLoop
    find_similar: FindSimilar
    folders: list[Folder]
    forgetting: Forgetting
    forgotten_places: ForgottenPlaces
    issue_sync: SyncIssues
    lanes: Lanes
    leftovers: dict[str, int]
    lookup: Lookup
    memory_retrieve: MemoryRetrieve
    mining: MineConversations
    observations: ObservationSelector
    openclaw: Pipeline
    profile: Profile
    prove: Prove
    publisher: Publisher
    query: Pipeline
    query_plan: QueryPlan
    query_without_models: Pipeline
    recalls: Recalls
    remember: Remember
    report: Report
    restore: RestoreArchived
    save_session: SaveSession
    session_briefing: SessionBriefing
    status: Status
    sweep: Sweep
    sync: SyncFolder
    synthesize_facts: SynthesizeFacts
    tending: LifecycleActions
    timeline: ReadTimeline
    update: UpdateCollection
    verify: Verify
    watching: VaultWatcher
    why: ReceiptReader

    agent_memory: Callable[..., AgentMemory]
    agent_sessions: Callable[..., Any]
    ask_of: Callable[..., Ask | None]
    back_up: Callable[[str], int]
    bundle: Callable[..., BundleReader]
    conversation_files: Callable[..., ConversationFiles]
    copy_vault: Callable[..., bool]
    decision_extractor: Callable[..., DecisionExtractor]
    discard_vault: Callable[[], None]
    draw_report: Callable[[VaultReport, str, str], list[str]]
    editor_of: Callable[..., list[str]]
    enrich: Callable[..., Enrich]
    handoffs: Callable[..., Handoffs]
    intent_search_of: Callable[..., IntentSearch]
    memory_files: Callable[[str], Any]
    memory_import: Callable[..., ImportMemories]
    new_bundle: Callable[..., BundleWriter]
    open_in_editor: Callable[[list[str], str, int], None]
    prompt_surfacing: Callable[..., PromptSurfacing]
    repair_vault: Callable[[str, str | None], SalvageReport]
    restore_bundle: Callable[..., RestoredBundle]
    run_command: Callable[..., str]
    vault_records: Callable[[], VaultRecords]

    if not TYPE_CHECKING:  # so that only declared attributes pass the check of types

        def __getattr__(self, name):
            """Return what the provider *name* provides."""
            from dependency_injector import providers  # see `opening`

            for part in (self.container.use_cases, self.container.gateways):
                if name in part.providers:
                    provider = part.providers[name]
                    return provider if isinstance(provider, providers.Callable) else provider()
            raise AttributeError(name)


@dataclass(frozen=True)
class Services(Provided):
    """
    The use cases and adapters of a vault, each built when it is accessed.

    Attributes:
        is_open: Whether the vault may be used; false for what needs the settings alone.
        is_new: Whether the vault was created now.
        lost_vault: A sentence if the vault takes the place of one that was lost.
        caller: The interface for which changes are recorded: ``cli``, ``mcp``, ``rest`` or ``python``.
    """

    container: Clawmem
    is_open: bool = True
    is_new: bool = False
    lost_vault: str = ""
    caller: str = "cli"
    progress: ProgressOf = no_progress

    def called_by(self, caller: str, progress: ProgressOf = no_progress) -> Services:
        """Return the same services for the interface *caller*."""
        return replace(self, caller=caller, progress=progress)

    def pipeline(self, name: str) -> Pipeline:
        """Return the pipeline of the verb *name*, such as ``query`` or ``memory_retrieve``."""
        pipeline: Pipeline = getattr(self, name)
        return pipeline
