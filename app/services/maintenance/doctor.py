"""Health check of storage, folders, indexes, vectors, models and the machine."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from shutil import disk_usage

from clawmem.app.client.announcement import announced
from clawmem.app.client.autostart import is_running
from clawmem.app.client.request import fault_of_server
from clawmem.app.environment.private_files import make_private
from clawmem.app.services.documents.listing import pages
from clawmem.app.services.indexing.collections import leftover_sentence
from clawmem.app.services.indexing.folders import Folder
from clawmem.app.services.indexing.publish import Publisher
from clawmem.app.services.maintenance.finding import (
    MISSING_FOLDER,
    REBUILD,
    REPAIR,
    CheckResult,
    listed,
    without_remedy,
)
from clawmem.app.services.maintenance.model_checks import ModelChecks
from clawmem.app.services.maintenance.verify import entries_by_grain
from clawmem.domain.maintenance.embedding_policy import lancedb_advice
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import ClawmemError
from clawmem.ports.files import FileSource
from clawmem.ports.indexes import EmbeddingStore, LexicalIndex, VectorSearch
from clawmem.ports.records import EmbedState
from clawmem.ports.storage import Storage, Transactions

LEAST_BYTES = 1 << 20  # enough for a log and a few notes


@dataclass(frozen=True, slots=True)
class Doctor:
    """
    Examines the vault without changing it.

    Reads the record of every fragment once and a sample of the vectors; asks every model a few questions. `Verify`
    additionally compares the vault with the files.
    """

    documents: DocumentStore
    storage: Storage
    lexical: LexicalIndex
    vectors: VectorSearch
    embeddings: EmbeddingStore
    files: FileSource
    folders: Sequence[Folder]
    models: ModelChecks
    leftovers: Callable[[], Mapping[str, int]] = dict
    forget_warnings: Callable[[], Sequence[str]] = tuple

    def __call__(self) -> list[CheckResult]:
        """Run every check in a fixed order; a check that raises becomes a failed finding."""
        checks: dict[str, Callable[[str], CheckResult]] = {
            "storage": self._storage,
            "forgotten notes": self._forgotten,
            **{f"folder {folder.name}": partial(self._folder, folder) for folder in self.folders},
            "collections": self._leftovers,
            "word index": self._lexical,
            "vectors": self._vectors,
            **self.models.checks(),
            "content types": self._content_types,
        }
        results = []
        for name, check in checks.items():
            try:
                results.append(check(name))
            except ClawmemError as error:  # its message names the remedy
                results.append(CheckResult(name, False, f"the check failed: {error}"))
            except Exception as error:  # noqa: BLE001  the other checks must still run and be reported
                detail = f"the check failed: {str(error) or type(error).__name__}"
                remedy = f"{REPAIR}  (shows what would change, and asks.)"
                results.append(CheckResult(name, False, detail, remedy))
        return results

    def _storage(self, name: str) -> CheckResult:
        if faults := self.storage.check():
            return CheckResult(name, False, "; ".join(faults), REPAIR)
        info = self.storage.info()
        return CheckResult(name, True, f"{info.location}: integrity check passed")

    def _forgotten(self, name: str) -> CheckResult:
        warnings = self.forget_warnings()
        detail = " ".join(warnings) or "their places are recorded next to the vault, too"
        return CheckResult(name, not warnings, detail)

    def _folder(self, folder: Folder, name: str) -> CheckResult:
        scan = self.files.scan(folder.root, enter=lambda path: False, wanted=lambda path: False)
        if not scan.root_exists:
            detail = f"{folder.root} does not exist or cannot be listed; its documents are kept."
            return CheckResult(name, False, detail, MISSING_FOLDER.format(folder.name))
        return CheckResult(name, True, folder.root)

    def _leftovers(self, name: str) -> CheckResult:
        sentences = [leftover_sentence(name, count) for name, count in self.leftovers().items()]
        detail = " ".join(sentences) or "every collection of files is configured"
        return CheckResult(name, not sentences, detail)

    def _lexical(self, name: str) -> CheckResult:
        faults = [without_remedy(fault) for fault in self.lexical.faults()]
        counts = {} if faults else entries_by_grain(self.documents, self.lexical)
        faults += [
            f"{grain}: the index holds {entries}, the records {expected}"
            for grain, (entries, expected) in counts.items()
            if entries != expected
        ]
        if faults:
            return CheckResult(name, False, "; ".join(faults), REBUILD)
        return CheckResult(
            name, True, ", ".join(f"{entries} {grain}s" for grain, (entries, _) in counts.items())
        )

    def _vectors(self, name: str) -> CheckResult:
        if faults := self.vectors.faults():
            return CheckResult(name, False, "; ".join(map(without_remedy, faults)), REBUILD)
        counts = self.embeddings.counts()
        detail = (
            f"{counts.stored} texts have a vector, {counts.pending} are pending, {counts.failed} failed, "
            f"{counts.orphaned} vectors are unused; searched by {self.vectors.method}"
        )
        if advice := lancedb_advice(counts.stored, self.storage.info().backend):
            detail += f". {advice}"
        if counts.failed:
            documents = self.documents.latest()
            failed = [note.display_path for note in documents if note.embed_state is EmbedState.FAILED]
            detail += f"; in {listed(sorted(failed))}"
            remedy = "Check the model below, then run: clawmem embed --force"
            return CheckResult(name, False, detail, remedy)
        try:
            has_model = self.models.embedder() is not None
        except ClawmemError:  # a model is configured; the next check reports its fault
            has_model = True
        is_behind = bool(counts.pending) and has_model
        return CheckResult(name, not is_behind, detail, "Run: clawmem embed" if is_behind else "")

    def _content_types(self, name: str) -> CheckResult:
        counts = Counter(document.content_type for document in self.documents.latest())
        by_number = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        detail = ", ".join(f"{name} {number}" for name, number in by_number)
        return CheckResult(name, True, detail or "no documents")


def machine_findings(vault: Path, places: Iterable[Path]) -> list[CheckResult]:
    """
    Return the findings about the disk and the server, if there are any, and about the permissions of *places*.

    Make *places* and everything below them private.
    """
    findings = []
    fault, remedy = "", "Check the permissions of the file and its folder."
    if not (os.access(vault, os.W_OK) and os.access(vault.parent, os.W_OK)):
        fault = f"{vault} cannot be written"
    else:
        with suppress(OSError):
            if (free := disk_usage(vault.parent).free) < LEAST_BYTES:
                fault = f"The disk is full: {free} bytes are left for {vault}"
                remedy = "Free some space."
    if fault:
        detail = f"{fault}. Search works, but nothing is indexed or remembered"
        findings.append(CheckResult("disk", False, detail, remedy))
    server = announced(vault) if is_running(vault) else None
    if server and (fault := fault_of_server(server)):  # hooks and commands do not use it
        detail, _, remedy = fault.partition("; ")
        findings.append(CheckResult("server", False, detail, remedy))
    changed: list[str] = []
    failed: list[str] = []
    for place in places:
        made, left = make_private(place)
        changed += map(str, made)
        failed += map(str, left)
    detail = "only you can read the vault and the files next to it, and the config file"
    remedy = ""
    if failed:
        detail = f"other users can read {listed(failed)}"
        remedy = f"Run as their owner: chmod -R go-rwx '{failed[0]}'"
    elif changed:
        detail = f"other users could read {listed(changed)}; now only you can"
    return [*findings, CheckResult("permissions", not failed, detail, remedy)]


def split_again(documents: DocumentStore, transactions: Transactions, publisher: Publisher) -> None:
    """Split every text that comes from no file into fragments again; an index run restores those of files."""
    for page in pages(documents):
        with transactions.writing():
            for document in page:
                body = documents.body(document.id)
                if document.stamp is None and body is not None:
                    publisher.publish_text(document, body, declared=None)
