"""Adapters of one vault, each imported and built at its first use."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from clawmem.app.bootstrap.oneshot import system_clock, with_indexes
from clawmem.ports.errors import ExtraMissing
from clawmem.ports.model_records import ModelRole

if TYPE_CHECKING:
    from pathlib import Path

    from clawmem.adapters.duckdb.analytics import DuckdbAnalytics
    from clawmem.adapters.files.disk import DiskFiles
    from clawmem.adapters.files.forget_log import ForgetFile
    from clawmem.adapters.files.memory_folder import MemoryFolder
    from clawmem.adapters.files.new_files import NewDiskFiles
    from clawmem.adapters.files.transcripts import DiskTranscripts
    from clawmem.adapters.models.catalogue import Selection
    from clawmem.adapters.models.static_words import StaticWords
    from clawmem.app.bootstrap.models import LocalModels, ModelContext
    from clawmem.app.services.indexes.external import ExternalIndexes
    from clawmem.app.services.maintenance.models import Models as InstalledModels
    from clawmem.app.services.models import Choice, Provider
    from clawmem.app.services.portability.bundle import RestoredBundle
    from clawmem.app.settings.model import Settings
    from clawmem.ports.analytics import VaultReport
    from clawmem.ports.bundle import BundleReader, BundleWriter, VaultRecords
    from clawmem.ports.clock import Clock
    from clawmem.ports.embedder import Embedder
    from clawmem.ports.generator import Generator
    from clawmem.ports.reranker import Reranker
    from clawmem.ports.salvage import SalvageReport
    from clawmem.ports.vault import Vault

LARGE_EMBEDDER = "embeddinggemma"  # runs in this process, and only if the settings name it


class Adapters:
    """
    The adapters that the settings choose; each is imported and built at its first use.

    ``closing`` closes the models; who opens the vault closes both.
    """

    def __init__(self, settings: Settings, *, read_only: bool) -> None:
        self._settings = settings
        self._read_only = read_only or settings.read_only
        # Only if the vault may be changed: neither a question nor a hook waits for a download.
        self._may_download = settings.download_models and not (read_only or settings.no_local_models)
        self.closing = ExitStack()

    @cached_property
    def clock(self) -> Clock:
        """Clock of this machine."""
        return system_clock()

    @cached_property
    def holder(self) -> str:
        """Name of this process in leases."""
        from clawmem.app.environment.process_identity import holder_id

        return holder_id()

    @cached_property
    def files(self) -> DiskFiles:
        """Files of collections."""
        from clawmem.adapters.files.disk import DiskFiles

        return DiskFiles()

    @cached_property
    def new_files(self) -> NewDiskFiles:
        """Writer of new notes."""
        from clawmem.adapters.files.new_files import NewDiskFiles

        return NewDiskFiles()

    @cached_property
    def forget_log(self) -> ForgetFile:
        """Log of forgotten documents, next to the vault."""
        from clawmem.adapters.files.forget_log import ForgetFile

        return ForgetFile(f"{self._settings.vault}.forgotten")

    @cached_property
    def transcripts(self) -> DiskTranscripts:
        """Files of conversations."""
        from clawmem.adapters.files.transcripts import DiskTranscripts

        return DiskTranscripts()

    @cached_property
    def late_interaction(self) -> StaticWords:
        """Model that compares texts word by word."""
        from clawmem.adapters.models.static_words import installed_words

        return installed_words()

    @cached_property
    def indexes(self) -> ExternalIndexes:
        """The configured vault with the indexes that serve it."""
        from clawmem.adapters.sqlite.vault import open_vault

        place = str(self._settings.vault)
        return with_indexes(
            open_vault(place, read_only=self._read_only),
            place,
            self.clock,
            self._settings.backend_options,
            holder=self.holder,
            read_only=self._read_only,
        )

    @property
    def vault(self) -> Vault:
        """The configured vault."""
        return self.indexes.vault

    @cached_property
    def generator(self) -> Generator | None:
        """Generator of the settings, or the local one."""
        return self._chosen_generator.model

    @cached_property
    def reranker(self) -> Reranker | None:
        """Reranker of the settings, or the local one."""
        return self._chosen_reranker.model

    @cached_property
    def embedder(self) -> Embedder:
        """The selected embedder."""
        if self._embeds_by_catalogue:
            from clawmem.adapters.models.catalogue import embedder_named

            return embedder_named(self._settings.embedder, self._settings.models)
        found: Embedder = self._chosen_embedder.required
        return found

    @staticmethod
    def memory_files(folder: str) -> MemoryFolder:
        """Return the files of a memory tool in *folder*."""
        from clawmem.adapters.files.memory_folder import MemoryFolder

        return MemoryFolder(folder)

    def local_embedder(self, fingerprint: str) -> Embedder | None:
        """Return the embedder in this process that made vectors with this fingerprint; ``None`` if there is none."""
        from clawmem.adapters.models.catalogue import embedder_of

        return embedder_of(fingerprint, self._settings.models)

    def vault_embedder(self) -> Embedder | None:
        """Return the embedder of the vectors that the vault keeps, ``None`` if it is unavailable; else the selected one."""
        kept = self._kept_vectors()
        return self.local_embedder(kept) if kept else self.embedder

    def installed_models(self) -> InstalledModels:
        """Return the models that can run in this process."""
        from clawmem.adapters.models.catalogue import known_models
        from clawmem.app.services.maintenance.models import Models

        return Models(known_models(self._settings.models), self._selection().name)

    def roles(self) -> list[Provider]:
        """Return the provider of each role."""
        from clawmem.app.services.models import Roles

        chosen: dict[ModelRole, Callable[[], Provider]] = {
            ModelRole.EMBEDDER: self._embedder_provider,
            ModelRole.GENERATOR: lambda: self._chosen_generator.how,
            ModelRole.RERANKER: lambda: self._chosen_reranker.how,
        }
        return Roles(chosen, self.vault.model_failures)()

    def repair(self, *, only_preview: bool) -> tuple[SalvageReport, str]:
        """Repair the file of the vault, which must not be open; return what was kept and the path of the damaged file."""
        from clawmem.adapters.sqlite.repair import repair_vault
        from clawmem.app.environment.private_files import draft_path

        vault, draft = str(self._settings.vault), str(draft_path(self._settings.vault))
        aside = f"{vault}.damaged-{self.clock.now_ms()}"
        return repair_vault(vault, draft, None if only_preview else aside), aside

    def back_up(self, target: Path) -> int:
        """Copy the vault to the new file *target*, check the copy, and return its number of documents."""
        from clawmem.adapters.sqlite.snapshot import back_up_vault

        return back_up_vault(str(self._settings.vault), str(target))

    def discard_vault(self) -> None:
        """Delete the file of the vault, which must be empty and not open, and its log."""
        from clawmem.adapters.sqlite.repair import discard_vault

        discard_vault(str(self._settings.vault))

    @contextmanager
    def records(self) -> Iterator[VaultRecords]:
        """Open the records of the vault, a copy that nothing else changes."""
        from clawmem.adapters.sqlite.records import SqliteRecords

        with closing(SqliteRecords(str(self._settings.vault))) as records:
            yield records

    @staticmethod
    @contextmanager
    def new_bundle(file: Path) -> Iterator[BundleWriter]:
        """Open the new bundle *file*."""
        from clawmem.adapters.files.bundle import ZipBundleWriter

        with closing(ZipBundleWriter(file)) as writer:
            yield writer

    @staticmethod
    @contextmanager
    def bundle(file: Path) -> Iterator[BundleReader]:
        """Open a bundle, whose parts are compared with their hashes."""
        from clawmem.adapters.files.bundle import ZipBundleReader
        from clawmem.domain.portability.other_files import advice_about

        with closing(ZipBundleReader(file, advice_about)) as reader:
            yield reader

    @staticmethod
    def restore_bundle(reader: BundleReader, target: Path) -> RestoredBundle:
        """Make the new vault file *target* from a bundle; its indexes are still empty."""
        from clawmem.adapters.sqlite.migrations import LATEST
        from clawmem.adapters.sqlite.records import load_records
        from clawmem.app.services.portability.bundle import restore_records

        return restore_records(reader, target, LATEST, load_records)

    @staticmethod
    def run_command(command: str, folder: Path) -> str:
        """Run a shell command of the settings in *folder*; return why it failed, or an empty string."""
        from clawmem.adapters.system.commands import failure_of_command

        return failure_of_command(command, folder)

    @staticmethod
    def open_in_editor(environ: Mapping[str, str], file: str, line: int) -> None:
        """Open *file* at *line* in the editor that *environ* names, and wait for its end."""
        from clawmem.adapters.system.commands import editor_of, open_in_editor

        open_in_editor(editor_of(environ), file, line)

    def local_models(self) -> LocalModels:
        """Return where large models in this process are, and whether they may be run and downloaded."""
        from clawmem.app.bootstrap.models import LocalModels

        return LocalModels(str(self._settings.models), not self._settings.no_local_models, self._may_download)

    def _surroundings(self) -> ModelContext:
        from clawmem.app.bootstrap.models import ModelContext

        return ModelContext(self.vault.model_failures, self.clock, self.closing)

    @property
    def _embeds_by_catalogue(self) -> bool:
        return not self._settings.embed_server and self._settings.embedder != LARGE_EMBEDDER

    @cached_property
    def _chosen_embedder(self) -> Choice[Any]:
        from clawmem.app.bootstrap.models import in_process, served

        if server := self._settings.embed_server:
            return served(ModelRole.EMBEDDER, server.model_dump(), self._surroundings())
        return in_process(ModelRole.EMBEDDER, self.local_models(), self._surroundings())

    @cached_property
    def _chosen_generator(self) -> Choice[Any]:
        from clawmem.app.bootstrap.models import chosen

        server = self._settings.llm_server
        told = server.model_dump() if server else {}
        return chosen(ModelRole.GENERATOR, told, self.local_models(), self._surroundings())

    @cached_property
    def _chosen_reranker(self) -> Choice[Any]:
        from clawmem.app.bootstrap.models import chosen

        server = self._settings.rerank_server
        told = server.model_dump() if server else {}
        return chosen(ModelRole.RERANKER, told, self.local_models(), self._surroundings())

    def _selection(self) -> Selection:
        from clawmem.adapters.models.catalogue import selected

        return selected(self._settings.embedder, self._settings.models)

    def _embedder_provider(self) -> Provider:
        if not self._embeds_by_catalogue:
            return self._chosen_embedder.how
        from clawmem.app.services.models import Provider

        selection = self._selection()
        if kept := self._kept_vectors():
            return self._kept_provider(kept, selection)
        return Provider(ModelRole.EMBEDDER, selection.name, selection.reason)

    @property
    def selects_by_name(self) -> bool:
        """Whether the settings name the embedder, instead of leaving its selection to clawmem."""
        return bool(self._settings.embed_server) or self._settings.embedder != "auto"

    def _kept_vectors(self) -> str | None:
        """Return the model of the vectors that the vault keeps although another is selected; ``None`` if it is that one."""
        from clawmem.domain.maintenance.embedding_policy import keeps_vectors

        if self.selects_by_name:
            return None
        embeddings = self.vault.embeddings
        serving, building = embeddings.fingerprint(), embeddings.building()
        kept = keeps_vectors(serving, building.fingerprint if building else None, self.embedder.fingerprint)
        return serving if kept else None

    def _kept_provider(self, kept: str, selection: Selection) -> Provider:
        from clawmem.adapters.models.catalogue import STATIC, STATIC_FAMILY
        from clawmem.app.services.models import NONE, Provider

        change = f"{selection.name} is installed; to change to it, run: clawmem embed --force"
        if self.local_embedder(kept) is None:
            reason = f"the model of the vectors is not available here ({selection.reason})"
            return Provider(ModelRole.EMBEDDER, NONE, reason, (change,))
        if kept.startswith(STATIC_FAMILY):
            return Provider(ModelRole.EMBEDDER, STATIC, "the vectors are of this model", (change,))
        return Provider(ModelRole.EMBEDDER, kept, "the vectors are of this model")


@contextmanager
def needs_extra(what: str, extra: str) -> Iterator[None]:
    """
    Import *what*, an optional part, inside the block.

    Raises:
        ExtraMissing: One of its packages is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("clawmem"):
            raise  # a bug of clawmem, not a missing extra
        raise ExtraMissing(what, extra=extra) from missing


def analytics() -> DuckdbAnalytics:
    """
    Return the engine of reports.

    Raises:
        ExtraMissing: DuckDB is not installed.
    """
    with needs_extra("duckdb", "duckdb"):
        from clawmem.adapters.duckdb.analytics import DuckdbAnalytics
    return DuckdbAnalytics()


def report_plots() -> Callable[[VaultReport, str, str], list[str]]:
    """
    Return the function that draws a report.

    Raises:
        ExtraMissing: Matplotlib is not installed.
    """
    with needs_extra("matplotlib", "duckdb"):
        from clawmem.adapters.matplotlib.plots import draw
    return draw
