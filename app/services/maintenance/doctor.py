"""Health check of storage, folders, lexical index, vectors and models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter

from clawmem.app.services.documents.listing import pages
from clawmem.app.services.documents.references import broken_links
from clawmem.app.services.indexing.claims import NoteClaims
from clawmem.app.services.indexing.collections import leftover_sentence
from clawmem.app.services.indexing.exclusions import Exclusions
from clawmem.app.services.indexing.external import ExternalIndexes
from clawmem.app.services.indexing.folders import Folder, misnamed_sentence, scan_folder
from clawmem.app.services.indexing.publish import Publisher
from clawmem.app.services.indexing.source import check_readable
from clawmem.app.services.maintenance.finding import (
    MISSING_FOLDER,
    REBUILD,
    REPAIR,
    Check,
    CheckResult,
    attempt,
    listed,
    without_remedy,
)
from clawmem.app.services.maintenance.model_checks import ExaminedModels, ModelChecks
from clawmem.app.services.maintenance.verify import entries_by_grain
from clawmem.domain.documents.links import written_link
from clawmem.domain.maintenance.embedding_policy import LANCEDB_ADVICE, wants_lancedb
from clawmem.ports.documents import DocumentStore, LinkStore, SuccessionStore
from clawmem.ports.errors import ClawmemError, SourceUnreadable
from clawmem.ports.files import FileSource
from clawmem.ports.indexes import EmbeddingStore, LexicalIndex, VectorSearch
from clawmem.ports.records import EmbedState, Role
from clawmem.ports.storage import Storage, Transactions

SHOWN = 5  # files listed by name


def skipped_files(documents: DocumentStore, files: FileSource, folder: Folder) -> list[str]:
    """Return a sentence for each file of *folder* that is not served because it, or a rule about it, is unreadable."""
    known = documents.sources(folder.name)
    served = {path for path, document in known.items() if document.inactive is None}
    exclusions = Exclusions(files, folder)
    scan = scan_folder(files, folder, exclusions=exclusions)
    sentences = [f"{folder.name}/{misnamed_sentence(path)}" for path in scan.misnamed]
    sentences += [f"{folder.name}: {exclusions.why_unreadable(path)}." for path in exclusions.unreadable]
    for file in scan.files:
        if file.path not in served:
            try:
                check_readable(files.read(folder.root, file.path), file.path, folder.extract)
            except SourceUnreadable as error:
                sentences.append(f"{folder.name}/{error}")
    return sentences


def spelled_out(sentences: list[str]) -> str:
    """Return the number of skipped files, with the reasons of the first `SHOWN`."""
    count = "1 file is not indexed" if len(sentences) == 1 else f"{len(sentences)} files are not indexed"
    more = "" if len(sentences) <= SHOWN else f" And {len(sentences) - SHOWN} more."
    return f"{count}: {' '.join(sentences[:SHOWN])}{more}"


STORAGE = "storage"
FORGOTTEN = "forgotten notes"
LEFTOVERS = "collections"
LEXICAL = "lexical index"
VECTORS = "vectors"
SUCCESSORS = "superseded notes"
LINKS = "links"
CONTENT_TYPES = "content types"

_NO_MODELS = ExaminedModels()


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
    successions: SuccessionStore
    links: LinkStore
    files: FileSource
    folders: Sequence[Folder]
    models: ExaminedModels = _NO_MODELS
    leftovers: Callable[[], Mapping[str, int]] = dict
    forget_warnings: Callable[[], Sequence[str]] = tuple

    def __call__(self) -> list[CheckResult]:
        """Run every check in a fixed order; a check that raises becomes a failed finding."""
        checks: dict[str, Check] = {
            STORAGE: self._storage,
            FORGOTTEN: self._forgotten,
            **{f"folder {folder.name}": partial(self._folder, folder) for folder in self.folders},
            LEFTOVERS: self._configured,
            LEXICAL: self._lexical,
            VECTORS: self._vectors,
            **ModelChecks(self.documents, self.embeddings, self.models).checks(),
            SUCCESSORS: self._successors,
            LINKS: self._links,
            CONTENT_TYPES: self._content_types,
        }
        return [attempt(name, check) for name, check in checks.items()]

    def _storage(self) -> CheckResult:
        if faults := self.storage.check():
            return CheckResult(STORAGE, False, "; ".join(faults), REPAIR)
        info = self.storage.info()
        detail = f"{info.location}: integrity check passed (schema {info.schema})"
        return CheckResult(STORAGE, True, detail)

    def _forgotten(self) -> CheckResult:
        warnings = self.forget_warnings()
        detail = " ".join(warnings) or "their places are recorded next to the vault, too"
        return CheckResult(FORGOTTEN, not warnings, detail)

    def _folder(self, folder: Folder) -> CheckResult:
        name = f"folder {folder.name}"
        scan = self.files.scan(folder.root, enter=lambda path: False, wanted=lambda path: False)
        if not scan.root_exists:
            detail = f"{folder.root} does not exist or cannot be listed; its documents are kept."
            return CheckResult(name, False, detail, MISSING_FOLDER.format(folder.name))
        skipped = skipped_files(self.documents, self.files, folder)
        return CheckResult(name, True, f"{folder.root}; {spelled_out(skipped)}" if skipped else folder.root)

    def _configured(self) -> CheckResult:
        sentences = [leftover_sentence(name, count) for name, count in self.leftovers().items()]
        detail = " ".join(sentences) or "every collection of files is configured"
        return CheckResult(LEFTOVERS, not sentences, detail)

    def _lexical(self) -> CheckResult:
        faults = [without_remedy(fault) for fault in self.lexical.faults()]
        counts = {} if faults else entries_by_grain(self.documents, self.lexical)
        faults += [
            f"{grain}: the index holds {entries}, the records {expected}"
            for grain, (entries, expected) in counts.items()
            if entries != expected
        ]
        if faults:
            return CheckResult(LEXICAL, False, "; ".join(faults), REBUILD)
        return CheckResult(
            LEXICAL, True, ", ".join(f"{grain} {entries}" for grain, (entries, _) in counts.items())
        )

    def _vectors(self) -> CheckResult:
        if faults := self.vectors.faults():
            return CheckResult(VECTORS, False, "; ".join(map(without_remedy, faults)), REBUILD)
        counts = self.embeddings.counts()
        detail = (
            f"{counts.stored} texts have a vector, {counts.pending} are pending, {counts.failed} failed, "
            f"{counts.orphaned} vectors are unused; searched by {self.vectors.method}"
        )
        if wants_lancedb(counts.stored, self.storage.info().backend):
            detail += f". {LANCEDB_ADVICE}"
        if counts.failed:
            documents = sorted(self.documents.latest(), key=attrgetter("collection", "path"))
            failed = [note.display_path for note in documents if note.embed_state is EmbedState.FAILED]
            detail += f"; in {listed(failed)}" if failed else ""
            remedy = "Check the model below, then run: clawmem embed --force"
            return CheckResult(VECTORS, False, detail, remedy)
        try:
            has_model = self.models.embedder() is not None
        except ClawmemError:  # a model is configured; the next check reports its fault
            has_model = True
        if counts.pending and has_model:
            return CheckResult(VECTORS, False, detail, "Run: clawmem embed")
        return CheckResult(VECTORS, True, detail)

    def _successors(self) -> CheckResult:
        claims = NoteClaims(self.documents, self.successions, self.lexical)
        if wrong := [*claims.unresolved(), *claims.circular()]:
            remedy = "Correct supersedes or superseded_by in these notes, then run: clawmem update"
            return CheckResult(SUCCESSORS, False, " ".join(map(str, wrong)), remedy)
        count = len(self.successions.claims())
        return CheckResult(SUCCESSORS, True, f"{count} named by other notes, all found")

    def _links(self) -> CheckResult:
        """Broken links are no failure: people link to notes that they have yet to write."""
        broken = [
            f"{link.source.display_path}:{link.link.line} {written_link(link.link)}"
            for link in broken_links(self.documents, self.links)
        ]
        detail = f"{self.links.count()} between notes"
        if broken:
            detail += f", {len(broken)} broken: {listed(broken)}. List them with: clawmem links --broken"
        return CheckResult(LINKS, True, detail)

    def _content_types(self) -> CheckResult:
        counts = Counter(document.content_type for document in self.documents.latest())
        by_number = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        detail = ", ".join(f"{name} {number}" for name, number in by_number)
        return CheckResult(CONTENT_TYPES, True, detail or "no documents")


def split_again(documents: DocumentStore, transactions: Transactions, publisher: Publisher) -> None:
    """Split every text that comes from no file into fragments again; an index run restores those of files."""
    for page in pages(documents):
        with transactions.writing():
            for document in page:
                body = documents.body(document.id)
                if document.stamp is None and body is not None:
                    publisher.publish_text(document, body, declared=None)


def rebuild_all(indexes: ExternalIndexes) -> None:
    """Rebuild every index from the records."""
    for role in Role:
        indexes.rebuild(role)
    indexes.keep_up()
