"""Services of an opened vault, for the interfaces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from clawmem.app.bootstrap.adapters import Adapters, analytics
from clawmem.app.bootstrap.pipelines import Pipelines
from clawmem.app.services.progress import ProgressOf, no_progress
from clawmem.app.settings.model import Settings
from clawmem.ports.clock import Clock

if TYPE_CHECKING:
    from clawmem.app.services.briefing.profile import Profile
    from clawmem.app.services.capture.diary import Diary
    from clawmem.app.services.capture.remembering import Remember
    from clawmem.app.services.documents.lookup import Lookup
    from clawmem.app.services.documents.timeline import ReadTimeline
    from clawmem.app.services.graph.build import BuildGraphs, CausalLinks
    from clawmem.app.services.indexes.external import ExternalIndexes
    from clawmem.app.services.indexing.embed import EmbedPending
    from clawmem.app.services.indexing.file_status import ExplainFile
    from clawmem.app.services.indexing.folders import Folder
    from clawmem.app.services.indexing.source import ParseYaml
    from clawmem.app.services.indexing.syncing import SyncFolder
    from clawmem.app.services.indexing.update import UpdateCollection
    from clawmem.app.services.indexing.watching import VaultWatcher
    from clawmem.app.services.knowledge.enriching import Enrich
    from clawmem.app.services.lifecycle.archiving import Archiving, RestoreArchived, Sweep
    from clawmem.app.services.lifecycle.forgetting import Forgetting
    from clawmem.app.services.lifecycle.proof import ForgottenPlaces, Prove
    from clawmem.app.services.lifecycle.tending import LifecycleActions
    from clawmem.app.services.maintenance.consolidation import Consolidation
    from clawmem.app.services.maintenance.doctor import Doctor
    from clawmem.app.services.maintenance.lane import Lane
    from clawmem.app.services.maintenance.lanes import Lanes
    from clawmem.app.services.maintenance.status import Report, Status
    from clawmem.app.services.maintenance.verify import Verify
    from clawmem.app.services.retrieval.pipeline import Pipeline
    from clawmem.app.services.retrieval.recalls import Recalls
    from clawmem.app.services.retrieval.receipts import Explain
    from clawmem.app.services.retrieval.replay import ReceiptReader
    from clawmem.app.services.retrieval.similar import FindSimilar
    from clawmem.ports.files import FileSource
    from clawmem.ports.vault import Vault


FILES_OF_VAULT = ("", "-wal", "-shm", ".indexes", ".hooks", ".forgotten")  # suffixes of its name


@dataclass(frozen=True)
class Services:
    """The services of an opened vault; each one is imported and built on access."""

    settings: Settings
    adapters: Adapters
    pipelines: Pipelines
    is_open: bool = True  # false for what needs the settings alone
    is_new: bool = False  # whether the vault was created now
    lost_vault: str = ""  # that the vault takes the place of one that was lost
    caller: str = "cli"  # the interface for which changes are recorded
    progress: ProgressOf = no_progress

    @property
    def vault(self) -> Vault:
        return self.adapters.vault

    @property
    def indexes(self) -> ExternalIndexes:
        return self.adapters.indexes

    @property
    def clock(self) -> Clock:
        return self.adapters.clock

    def called_by(self, caller: str, progress: ProgressOf = no_progress) -> Services:
        """Return the same services for the interface *caller*: ``cli``, ``mcp`` or ``rest``."""
        return replace(self, caller=caller, progress=progress)

    @property
    def update(self) -> UpdateCollection:
        return self.update_from(self.adapters.files)

    @property
    def sync(self) -> SyncFolder:
        from clawmem.adapters.files.disk import DiskFiles
        from clawmem.app.services.indexing.syncing import SyncFolder
        from clawmem.app.services.indexing.update import UpdateCollection

        make_update = partial(UpdateCollection, self.vault, clock=self.clock, parse_yaml=self._parse_yaml)
        single_files, settings = DiskFiles(hard_links=False), self.settings
        return SyncFolder(make_update, self.adapters.files, single_files, settings.home, settings.own_files)

    @property
    def watching(self) -> VaultWatcher:
        from clawmem.adapters.files.live import LiveFiles
        from clawmem.adapters.files.watching import WatchedFolders
        from clawmem.app.services.indexing.watching import VaultWatcher

        return VaultWatcher(WatchedFolders(), self.update_from(LiveFiles()), self.lane("watch"))

    @property
    def embed(self) -> EmbedPending:
        from clawmem.app.services.indexing.embed import EmbedPending

        adapters, older = self.adapters, self.pipelines.embedder.of
        return EmbedPending(self.vault, adapters.embedder, older, by_name=adapters.selects_by_name)

    @property
    def find_similar(self) -> FindSimilar:
        from clawmem.app.services.retrieval.similar import FindSimilar

        return FindSimilar(self.vault, self.pipelines.embedder)

    @property
    def timeline(self) -> ReadTimeline:
        from clawmem.app.services.documents.timeline import ReadTimeline

        return ReadTimeline(self.vault)

    @property
    def build_graphs(self) -> BuildGraphs:
        from clawmem.app.services.graph.build import BuildGraphs

        return BuildGraphs(self.vault, self.clock)

    def enrich(self, *, with_model: bool = True, calls_a_day: int | None = None) -> Enrich:
        """Return the service that adds notes, names and links to documents."""
        from clawmem.app.services.knowledge.asking import CALLS_A_DAY
        from clawmem.app.services.knowledge.enriching import enriching

        return enriching(
            self.vault,
            self.clock,
            self.adapters.generator if with_model else None,
            calls_a_day=CALLS_A_DAY if calls_a_day is None else calls_a_day,
        )

    @property
    def causal_links(self) -> CausalLinks:
        from clawmem.app.services.graph.build import CausalLinks

        return CausalLinks(self.vault)

    @property
    def lookup(self) -> Lookup:
        from clawmem.app.services.documents.lookup import Lookup

        return Lookup(self.vault, self.settings.roots)

    @property
    def tending(self) -> LifecycleActions:
        from clawmem.app.services.lifecycle.tending import LifecycleActions

        return LifecycleActions(self.vault, self.clock)

    @property
    def archiving(self) -> Archiving:
        from clawmem.app.services.lifecycle.archiving import Archiving

        return Archiving(self.vault, self.clock)

    @property
    def restore(self) -> RestoreArchived:
        from clawmem.app.services.lifecycle.archiving import RestoreArchived

        return RestoreArchived(self.archiving, self.adapters.files, self.folders)

    @property
    def forgetting(self) -> Forgetting:
        from clawmem.app.services.lifecycle.forgetting import Forgetting

        return Forgetting(self.vault, self.clock, self.profile, self.forgotten_places.note)

    @property
    def forgotten_places(self) -> ForgottenPlaces:
        from clawmem.app.services.lifecycle.proof import ForgottenPlaces

        return ForgottenPlaces(self.vault, self.adapters.forget_log)

    @property
    def sweep(self) -> Sweep:
        from clawmem.app.services.lifecycle.archiving import Propose, Sweep

        return Sweep(
            self.archiving, self.forgetting, Propose(self.vault.documents, self.vault.telemetry, self.clock)
        )

    @property
    def prove(self) -> Prove:
        from clawmem.app.services.lifecycle.proof import Prove

        pipelines = self.pipelines
        asked: dict[str, Callable[[], Pipeline]] = {
            "search": lambda: pipelines.search,
            "vsearch": lambda: pipelines.vsearch,
            "query": lambda: pipelines.query_without_models,
        }
        places = [f"{self.settings.vault}{end}" for end in FILES_OF_VAULT]
        return Prove(self.vault, self.clock, asked, lambda: self.find_similar, places)

    def consolidation(self, *, asks_models: bool = True) -> Consolidation:
        """Return the service that merges repeated observations, and undoes merges."""
        from clawmem.app.services.maintenance.consolidation import Consolidation
        from clawmem.app.services.maintenance.grouping import Thresholds
        from clawmem.app.services.maintenance.lanes import read_plan

        plan = read_plan(self.settings.lanes)
        return Consolidation(
            self.vault,
            self.clock,
            self.adapters.generator if asks_models else None,
            policy=plan.contradictions,
            thresholds=Thresholds(plan.merge_normal, plan.merge_strict),
            least=plan.least_confidence,
            calls_a_day=plan.daily_calls,
        )

    def lanes(self, *, asks_models: bool = True) -> Lanes:
        """Return the scheduled maintenance; without *asks_models* it works by rules alone."""

        return lanes_of(self, asks_models=asks_models)

    @property
    def diary(self) -> Diary:
        from clawmem.app.services.capture.diary import Diary

        return Diary(self.vault, self.clock)

    @property
    def remember(self) -> Remember:
        from clawmem.app.services.capture.remembering import Remember

        files, update, inbox = self.adapters.new_files, self.update, self.settings.inbox
        return Remember(self.vault, self.clock, files, update, self.lookup, lambda: self.folders, inbox)

    @property
    def profile(self) -> Profile:
        from clawmem.app.services.briefing.profile import Profile

        return Profile(self.vault, self.clock)

    @property
    def recalls(self) -> Recalls:
        from clawmem.app.services.retrieval.recalls import Recalls, Retention

        settings = self.settings
        return Recalls(
            self.vault.telemetry,
            self.clock,
            self.vault.receipts,
            answers=self.vault.answers,
            enabled=settings.telemetry and not settings.read_only,
            forgets=not settings.read_only,
            retention=Retention(settings.retention_days, settings.kept_receipt_days),
        )

    @property
    def explain(self) -> Explain:
        from clawmem.app.services.retrieval.receipts import Explain

        return Explain(self.vault)

    @property
    def why(self) -> ReceiptReader:
        from clawmem.app.services.retrieval.replay import ReceiptReader

        return ReceiptReader(self.vault, self.clock)

    @property
    def report(self) -> Report:
        from clawmem.app.services.maintenance.status import Report

        return Report(self.vault.documents, self.vault.telemetry, self.clock, analytics)

    @property
    def status(self) -> Status:
        from clawmem.app.services.maintenance.status import Status

        return Status(self.vault, self.clock, self.adapters.roles)

    @property
    def doctor(self) -> Doctor:
        from clawmem.app.services.maintenance.doctor import Doctor
        from clawmem.app.services.maintenance.model_checks import Models

        adapters = self.adapters
        return Doctor(
            self.vault,
            adapters.files,
            self.folders,
            Models(
                adapters.vault_embedder, lambda: adapters.generator, lambda: adapters.reranker, adapters.roles
            ),
            leftovers=lambda: self.leftovers,
            forget_warnings=lambda: self.forgotten_places.warnings(),
        )

    @property
    def verify(self) -> Verify:
        from clawmem.app.services.maintenance.verify import Verify

        return Verify(self.vault, self.adapters.files, self.folders, self._parse_yaml, self.clock)

    @property
    def explain_file(self) -> ExplainFile:
        from clawmem.app.services.indexing.file_status import ExplainFile

        vault = self.vault if self.is_open else None
        return ExplainFile(vault, self.adapters.files, self.folders, self._parse_yaml)

    @property
    def folders(self) -> list[Folder]:
        from clawmem.app.bootstrap.folders import folders_of

        return folders_of(self.settings)

    @property
    def leftovers(self) -> dict[str, int]:
        """
        Number of documents by collection of files that is no longer configured.

        A named vault has none: its collections are synced and never configured.
        """
        from clawmem.app.services.indexing.collections import leftover_collections

        if self.settings.named or self.settings.vault in self.settings.vaults.values():
            return {}
        return leftover_collections(self.vault.documents, self.settings.collections)

    def lane(self, name: str, *, lease_ms: int | None = None) -> Lane:
        """Return the lane *name*, in which one process works at a time."""
        from clawmem.app.environment.process_identity import is_gone
        from clawmem.app.services.maintenance.lane import LEASE_MS, Lane

        leases, holder = self.vault.leases, self.adapters.holder
        return Lane(name, leases, self.clock, holder, is_gone, lease_ms=lease_ms or LEASE_MS)

    def update_from(self, files: FileSource) -> UpdateCollection:
        """Return the service that indexes one folder of *files*."""
        from clawmem.app.services.indexing.update import UpdateCollection

        agree = self.forgotten_places.agree
        return UpdateCollection(self.vault, files, self.clock, self._parse_yaml, agree, self.settings.roots)

    @property
    def _parse_yaml(self) -> ParseYaml:
        from clawmem.adapters.files.front_matter import parse_yaml

        return parse_yaml


def lanes_of(services: Services, *, asks_models: bool) -> Lanes:
    """Return the scheduled maintenance of *services*; without *asks_models* it works by rules alone."""
    from clawmem.adapters.system.clock import local_hour
    from clawmem.app.services.maintenance.lanes import Lanes, read_plan
    from clawmem.app.services.maintenance.phases import NO_MODEL, NOT_ASKED, Phases
    from clawmem.app.services.maintenance.synthesis import Synthesis
    from clawmem.app.services.maintenance.tidying import Cleanup

    plan = read_plan(services.settings.lanes)
    calls = plan.daily_calls
    generator = services.adapters.generator if asks_models else None
    days = services.settings.retention_days, services.settings.kept_receipt_days
    cleanup = Cleanup(services.vault, services.clock, *days, forgets=not services.settings.read_only)
    phases = Phases(
        services.vault,
        services.clock,
        plan,
        services.consolidation(asks_models=asks_models),
        cleanup,
        synthesis=Synthesis(services.vault, services.clock, generator, calls_a_day=calls)
        if generator
        else None,
        by_rules=services.enrich(with_model=False) if plan.enriches else None,
        by_model=services.enrich(calls_a_day=calls) if generator and plan.enriches else None,
        no_model=NO_MODEL if asks_models else NOT_ASKED,
    )
    return Lanes(services.vault, services.clock, services.lane, phases, local_hour, plan)
