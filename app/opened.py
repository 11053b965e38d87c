"""An opened vault and the typed services over it, for entry points."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, cast

from clawmem.app.container import Container, build_container
from clawmem.app.places import is_there
from clawmem.app.private_files import files_of_vault, make_private, private_umask
from clawmem.app.settings import Settings
from clawmem.app.vaults import UnknownVault
from clawmem.domain.documents.eligibility import is_collection_name
from clawmem.ports.clock import Clock
from clawmem.ports.errors import BackendMismatch, VaultError, VaultFull, VaultReadOnly

if TYPE_CHECKING:
    from clawmem.app.services.briefing.profile import Profile
    from clawmem.app.services.capture.diary import Diary
    from clawmem.app.services.documents.lookup import Lookup
    from clawmem.app.services.documents.timeline import ReadTimeline
    from clawmem.app.services.graph.build import BuildGraphs
    from clawmem.app.services.graph.causal_links import CausalLinks
    from clawmem.app.services.indexes.vault import ServedVault
    from clawmem.app.services.indexing.embed import EmbedPending
    from clawmem.app.services.indexing.folders import Folder
    from clawmem.app.services.indexing.syncing import SyncFolder
    from clawmem.app.services.indexing.update import (
        UpdateCollection,
    )
    from clawmem.app.services.indexing.watching import VaultWatcher
    from clawmem.app.services.knowledge.enriching import Enrich
    from clawmem.app.services.lifecycle.archiving import Archiving
    from clawmem.app.services.lifecycle.forgetting import Forgetting
    from clawmem.app.services.lifecycle.forgotten_places import ForgottenPlaces
    from clawmem.app.services.lifecycle.proof import Prove
    from clawmem.app.services.lifecycle.restoring import RestoreArchived
    from clawmem.app.services.lifecycle.sweeping import Sweep
    from clawmem.app.services.lifecycle.tending import LifecycleActions
    from clawmem.app.services.maintenance.consolidation import Consolidation
    from clawmem.app.services.maintenance.doctor import Doctor
    from clawmem.app.services.maintenance.lanes import Lanes
    from clawmem.app.services.maintenance.report import Report
    from clawmem.app.services.maintenance.status import Status
    from clawmem.app.services.maintenance.verify import Verify
    from clawmem.app.services.retrieval.explain import Explain
    from clawmem.app.services.retrieval.pipeline import Pipeline
    from clawmem.app.services.retrieval.pipelines.intent_search import IntentSearch
    from clawmem.app.services.retrieval.pipelines.memory_retrieve import MemoryRetrieve
    from clawmem.app.services.retrieval.pipelines.query_plan import QueryPlan
    from clawmem.app.services.retrieval.recalls import Recalls
    from clawmem.app.services.retrieval.similar import FindSimilar
    from clawmem.app.services.retrieval.why import ReceiptReader
    from clawmem.domain.retrieval.intent import Intent


@dataclass(frozen=True)
class Services:
    """The services of an opened vault; each one is imported and built on access."""

    settings: Settings
    vault: ServedVault
    clock: Clock
    parts: Container
    caller: str = "cli"  # the interface for which changes are recorded

    def called_by(self, caller: str) -> Services:
        """Return the same services for the interface *caller*: ``cli``, ``mcp`` or ``rest``."""
        return replace(self, caller=caller)

    @property
    def update(self) -> UpdateCollection:
        """Service that indexes one folder."""
        return cast("UpdateCollection", self.parts.update())

    @property
    def sync(self) -> SyncFolder:
        """Service that indexes a folder outside of the settings."""
        return cast("SyncFolder", self.parts.sync())

    @property
    def watching(self) -> VaultWatcher:
        """Service that indexes files when they change."""
        return cast("VaultWatcher", self.parts.watching())

    @property
    def embed(self) -> EmbedPending:
        """Service that embeds texts without vectors."""
        return cast("EmbedPending", self.parts.embed())

    def pipeline(self, name: str) -> Pipeline:
        """Return the pipeline *name*: ``search``, ``vsearch``, ``query`` or ``intent_search``."""
        return cast("Pipeline", getattr(self.parts, name)())

    def intent_search(self, intent: Intent | None = None, *, with_graph: bool = True) -> IntentSearch:
        """Return the pipeline of `intent_search`; without *intent*, the question's words decide."""
        return cast("IntentSearch", self.parts.intent_search(intent=intent, with_graph=with_graph))

    @property
    def query_plan(self) -> QueryPlan:
        """Pipeline that splits a question of several topics into clauses."""
        return cast("QueryPlan", self.parts.query_plan())

    @property
    def memory_retrieve(self) -> MemoryRetrieve:
        """Pipeline that routes each question to the fitting pipeline."""
        return cast("MemoryRetrieve", self.parts.memory_retrieve())

    @property
    def find_similar(self) -> FindSimilar:
        """Service that finds similar documents."""
        return cast("FindSimilar", self.parts.find_similar())

    @property
    def timeline(self) -> ReadTimeline:
        """Reader of timelines."""
        return cast("ReadTimeline", self.parts.timeline())

    @property
    def build_graphs(self) -> BuildGraphs:
        """Service that derives relations from the documents."""
        return cast("BuildGraphs", self.parts.build_graphs())

    def enrich(self, *, with_model: bool = True, calls_a_day: int | None = None) -> Enrich:
        """Return the service that adds notes, names and links to documents."""
        chosen: dict[str, object] = {} if with_model else {"generator": None}
        if calls_a_day is not None:
            chosen["calls_a_day"] = calls_a_day
        return cast("Enrich", self.parts.enrich(**chosen))

    @property
    def causal_links(self) -> CausalLinks:
        """Reader of chains of causes and effects."""
        return cast("CausalLinks", self.parts.causal_links())

    @property
    def lookup(self) -> Lookup:
        """Lookup of documents by address."""
        return cast("Lookup", self.parts.lookup())

    @property
    def tending(self) -> LifecycleActions:
        """Service that pins and snoozes documents, and undoes changes of the lifecycle."""
        return cast("LifecycleActions", self.parts.tending())

    @property
    def archiving(self) -> Archiving:
        """Service that archives and restores documents."""
        return cast("Archiving", self.parts.archiving())

    @property
    def restore(self) -> RestoreArchived:
        """Service that restores archived documents whose files exist."""
        from clawmem.app.services.lifecycle.restoring import RestoreArchived

        return RestoreArchived(self.archiving, self.parts.files(), self.folders)

    @property
    def forgetting(self) -> Forgetting:
        """Service that forgets documents for good."""
        return cast("Forgetting", self.parts.forgetting())

    @property
    def forgotten_places(self) -> ForgottenPlaces:
        """The places of forgotten documents, in the vault and in the file next to it."""
        return cast("ForgottenPlaces", self.parts.forgotten_places())

    @property
    def sweep(self) -> Sweep:
        """Service that applies the owner's lifecycle policy."""
        return cast("Sweep", self.parts.sweep())

    @property
    def prove(self) -> Prove:
        """Service that proves that forgotten documents left no trace."""
        return cast("Prove", self.parts.prove())

    def consolidation(self, *, asks_models: bool = True) -> Consolidation:
        """Return the service that merges repeated observations, and undoes merges."""
        from clawmem.app.services.maintenance.grouping import Thresholds
        from clawmem.app.services.maintenance.lane_plan import read_plan

        plan = read_plan(self.settings.lanes)
        made = self.parts.consolidation(
            policy=plan.contradictions,
            thresholds=Thresholds(plan.merge_normal, plan.merge_strict),
            least=plan.least_confidence,
            calls_a_day=plan.daily_calls,
            **({} if asks_models else {"generator": None}),
        )
        return cast("Consolidation", made)

    def lanes(self, *, asks_models: bool = True) -> Lanes:
        """Return the scheduled maintenance; without *asks_models* it works by rules alone."""
        from clawmem.app.services.maintenance.lane_plan import read_plan
        from clawmem.app.services.maintenance.phases import NOT_ASKED

        plan = read_plan(self.settings.lanes)
        generator = self.parts.generator() if asks_models else None
        by_model = generator and self.enrich(calls_a_day=plan.daily_calls)
        phases = self.parts.phases(
            plan=plan,
            consolidation=self.consolidation(asks_models=asks_models),
            synthesis=generator and self.parts.synthesis(generator, calls_a_day=plan.daily_calls),
            by_rules=self.enrich(with_model=False) if plan.enriches else None,
            by_model=by_model if plan.enriches else None,
            **({} if asks_models else {"no_model": NOT_ASKED}),
        )
        return cast("Lanes", self.parts.lanes(phases=phases, plan=plan))

    @property
    def diary(self) -> Diary:
        """The diary."""
        return cast("Diary", self.parts.diary())

    @property
    def profile(self) -> Profile:
        """The profile page of the user."""
        return cast("Profile", self.parts.profile())

    @property
    def recalls(self) -> Recalls:
        """The log of questions."""
        return cast("Recalls", self.parts.recalls())

    @property
    def explain(self) -> Explain:
        """Service that makes receipts of answers."""
        return cast("Explain", self.parts.explain())

    @property
    def why(self) -> ReceiptReader:
        """Reader of stored receipts."""
        return cast("ReceiptReader", self.parts.why())

    @property
    def report(self) -> Report:
        """Service that reports the use and growth of the vault."""
        return cast("Report", self.parts.report())

    @property
    def status(self) -> Status:
        """Service that reports the content of the vault."""
        return cast("Status", self.parts.status())

    @property
    def doctor(self) -> Doctor:
        """Checks of the vault and its environment."""
        made = self.parts.doctor(
            self.folders,
            leftovers=lambda: self.leftovers,
            forget_warnings=lambda: self.forgotten_places.warnings(),
        )
        return cast("Doctor", made)

    @property
    def verify(self) -> Verify:
        """Comparison of the vault with the files."""
        return cast("Verify", self.parts.verify(self.folders, self.parts.parse_yaml(), self.clock))

    def skipped(self) -> list[str]:
        """Return a sentence for each file of the collections that is not indexed because it is unreadable."""
        from clawmem.app.services.maintenance.skipped import skipped_files

        files = self.parts.files()
        return [one for folder in self.folders for one in skipped_files(self.vault, files, folder)]

    @property
    def folders(self) -> list[Folder]:
        """The folders of the configured collections."""
        from clawmem.app.configured import ConfiguredFolders
        from clawmem.app.services.indexing.folders import Folder
        from clawmem.app.services.indexing.ownership import nested
        from clawmem.domain.security.origin import TRUST

        configured = ConfiguredFolders(self.settings.config_file)
        chosen = self.settings.collections.items()
        folders = [
            Folder(
                name,
                str(one.path),
                one.pattern,
                origin=TRUST[one.trust],
                is_configured=partial(configured.has, name, one.path),
            )
            for name, one in chosen
        ]
        return nested(folders)

    @property
    def leftovers(self) -> dict[str, int]:
        """
        Number of documents by collection of files that is no longer configured.

        A named vault has none: its collections are synced and never configured.
        """
        from clawmem.app.services.indexing.leftovers import leftover_collections

        if self.settings.named or self.settings.vault in self.settings.vaults.values():
            return {}
        return leftover_collections(self.vault, self.settings.collections)


@contextmanager
def open_services(
    settings: Settings, *, read_only: bool = False, create: bool = True, or_read: bool = False
) -> Iterator[Services]:
    """
    Open the configured vault, and close it at the end of the block.

    Args:
        create: Whether a missing vault is created; ignored when *read_only*.
        or_read: Whether a vault that cannot be written now, on a full disk for example, is opened for reading.

    Raises:
        ConfigError: There is no backend of that name.
        VaultError: There is no vault, or it cannot be opened.
    """
    if (read_only or not create) and not is_there(settings.vault):
        if not settings.named and is_collection_name(str(settings.vault)):  # a bare word is a name
            raise UnknownVault(str(settings.vault), sorted(settings.vaults))
        way_out = f"vault sync {settings.named} FOLDER" if settings.named else "bootstrap PATH"
        raise VaultError(
            str(settings.vault), f"There is no vault at {settings.vault}. Run: clawmem {way_out}"
        )
    container = build_container(settings, read_only=read_only)
    try:
        with private_umask():
            vault: ServedVault = container.vault()
    except (VaultFull, VaultReadOnly):
        if read_only or not or_read or not is_there(settings.vault):
            raise
        settings = settings.model_copy(update={"read_only": True})
        container = build_container(settings, read_only=True)
        vault = container.vault()
    try:
        if settings.backend and settings.backend != vault.backend:
            _choose_backend(vault, settings.backend, read_only=read_only or settings.read_only)
        yield Services(settings, vault, container.clock(), container)
    finally:
        container.at_the_end().close()
        vault.close()
        if not read_only and not settings.read_only:
            for place in files_of_vault(settings.vault):  # engines choose their files' permissions
                make_private(place)


@contextmanager
def open_copy(settings: Settings) -> Iterator[Services]:
    """
    Open a temporary copy of the configured vault. The copy and its changes are deleted at the end.

    Raises:
        VaultError: There is no vault, or it cannot be copied.
    """
    with open_services(settings, read_only=True) as services, TemporaryDirectory(prefix="clawmem-") as folder:
        copy = Path(folder) / settings.vault.name
        services.parts.copy_vault()(str(settings.vault), str(copy))
        with open_services(settings.model_copy(update={"vault": copy}), create=False) as copied:
            yield copied


def _choose_backend(vault: ServedVault, asked: str, *, read_only: bool) -> None:
    """Move an empty vault to the backend *asked*; refuse one in use, which only `clawmem migrate` moves."""
    if read_only or vault.documents.following(0, 1):
        raise BackendMismatch(vault.backend, asked)
    vault.move(asked)
