"""Index pass: synchronizes a collection's records with its folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from clawmem.app.services.indexing.claims import LinkTargets, NoteClaims
from clawmem.app.services.indexing.collections import record_trust, trust_of
from clawmem.app.services.indexing.exclusions import Exclusions
from clawmem.app.services.indexing.folders import Folder, known_sources, misnamed_sentence, scan_folder
from clawmem.app.services.indexing.moves import MoveDetection, MovedFile, Removal, is_forgotten_file, move
from clawmem.app.services.indexing.publish import Publisher, SavedDocument, apply_in_chunks
from clawmem.app.services.indexing.source import ParsedSource, ParseYaml, parse_source, settled
from clawmem.domain.documents.identity import is_current, is_forgotten, source_hash, version_of
from clawmem.domain.documents.times import parse_iso
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import SourceUnreadable
from clawmem.ports.files import FileSource
from clawmem.ports.journal import ActJournal, ForgottenTexts
from clawmem.ports.records import Document, InactiveReason, SourceFile
from clawmem.ports.storage import Transactions

Progress = Callable[[int, int], None]  # done, total

# Notes read before a commit, which an interrupted pass has to read again.
BATCH_NOTES = 32
BATCH_CHARACTERS = 200_000

LINKS = "the rule that symbolic links are not followed"

# A file that other processes publish again and again is left to the next pass after this many attempts.
MOST_ATTEMPTS = 3


@dataclass(slots=True)
class PassReport:
    """
    Counts of one pass; ``problems`` are sentences about files that were not indexed, or about their references.

    ``unread`` files and folders could not be read, or have lost all files; their documents are kept.
    ``excluded`` are the files and folders that were left out, by the file or setting with the rule.
    """

    collection: str
    added: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    unread: int = 0
    excluded: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


class CollectionRemoved(Exception):
    """The collection was taken out of the configuration during a pass."""


class PassInterrupted(KeyboardInterrupt):
    """An interrupt during a pass; ``report`` counts the committed files."""

    def __init__(self, report: PassReport) -> None:
        super().__init__(f"the pass over {report.collection} was interrupted")
        self.report = report


@dataclass(frozen=True)
class CollectionStores:
    """Stores and ports that a pass over a folder reads and changes."""

    documents: DocumentStore
    transactions: Transactions
    publisher: Publisher
    claims: NoteClaims
    links: LinkTargets
    acts: ActJournal
    forgotten_texts: ForgottenTexts


@dataclass(frozen=True, slots=True)
class UpdateCollection:
    """
    One pass over one folder, in write transactions of at most about 50 ms.

    Files are listed, read and split outside transactions. Each transaction compares the record of a path with the
    record that the pass has read, so that concurrent passes, and notes forgotten during a pass, are not overwritten.
    An interrupted pass keeps its commits, and the next pass continues.

    An unchanged file only costs a stat call. An unreadable file keeps its record; a missing folder, or a part of it
    that cannot be listed, deactivates nothing. A file that was moved or renamed stays the same document. A file with
    the text of a forgotten note is not indexed. A pass ends when its collection is no longer configured.

    Args:
        forget_again: Called before each pass, see `clawmem.app.services.lifecycle.proof`.
        roots: The absolute folder of each collection by name, to detect moves between them.
    """

    stores: CollectionStores
    files: FileSource
    clock: Clock
    parse_yaml: ParseYaml
    forget_again: Callable[[], object] = lambda: None
    roots: Mapping[str, str] = field(default_factory=dict)

    def known(self, folder: Folder) -> list[Document]:
        """Return the documents of the files of *folder*, served or not."""
        return [*known_sources(self.stores.documents, folder).values()]

    def __call__(
        self,
        folder: Folder,
        *,
        force: bool = False,
        allow_empty: bool = False,
        progress: Progress = lambda done, total: None,
    ) -> PassReport:
        """
        Index *folder*; with *force* read every served file again, also with an unchanged stamp and hash.

        With *allow_empty* a folder without any matching file loses all of its documents, however many they are.

        Raises:
            PassInterrupted: Ctrl-C; earlier commits are kept.
            VaultError: earlier commits are kept.
        """
        self.forget_again()  # repeats forgetting in a recreated vault
        one_pass = _Pass(self, folder, force=force, allow_empty=allow_empty)
        try:
            one_pass.run(progress)
        except KeyboardInterrupt as error:
            raise PassInterrupted(one_pass.report) from error
        return one_pass.report


@dataclass(frozen=True, slots=True)
class _Change:
    """
    A file that was read, and the record it was compared with; without ``parsed`` only its stamp is new.

    ``past`` is the document of the file before it was moved.
    """

    file: SourceFile
    known: Document | None
    attempt: int
    parsed: ParsedSource | None = None
    past: Document | None = None


class _Outcome(Enum):
    """Result of the attempt to write a change."""

    WRITTEN = auto()
    OUTDATED = auto()  # another process changed the record
    FORGOTTEN = auto()  # the text was forgotten on request and is not indexed


class _Pass:
    """One run of `UpdateCollection`."""

    def __init__(self, update: UpdateCollection, folder: Folder, *, force: bool, allow_empty: bool) -> None:
        self._documents = update.stores.documents
        self._transactions = update.stores.transactions
        self._publisher = update.stores.publisher
        self._stores = update.stores
        self._files = update.files
        self._clock = update.clock
        self._parse_yaml = update.parse_yaml
        self._folder = folder
        self._force = force
        self._removal = Removal(
            self._documents,
            self._transactions,
            self._publisher,
            update.files,
            update.clock,
            folder,
            allow_empty=allow_empty,
        )
        self._batch: list[_Change] = []
        self._saved: list[SavedDocument] = []  # in the transaction
        self._moves = MoveDetection(self._documents, update.files, {**update.roots, folder.name: folder.root})
        # New files with their records, by the document that they may have been moved from.
        self._moved: dict[int, list[MovedFile]] = {}
        self.report = PassReport(folder.name)

    def run(self, progress: Progress) -> None:
        """Run the pass; end it early if the collection is no longer configured."""
        try:
            self._run(progress)
        except CollectionRemoved:
            self._complain(
                f"{self._folder.name} is no longer configured with {self._folder.root}; the pass over it ended."
            )

    def _run(self, progress: Progress) -> None:
        # Read the records before listing files, so that a document added in between is not taken for a deleted file.
        known = known_sources(self._documents, self._folder)
        exclusions = self._exclusions = Exclusions(self._files, self._folder)
        scan = scan_folder(self._files, self._folder, exclusions=exclusions)
        if not scan.root_exists:
            self._miss(
                f"{self._folder.root} is not there, or is no folder; its documents are kept as they are."
            )
            return
        for path in scan.unreadable:
            self._miss(f"{exclusions.why_unreadable(path)}; what is below is kept.")
        for path in scan.misnamed:
            self._miss(misnamed_sentence(path))
        self._moves.expect(self._removal.missing(scan, known, exclusions))
        for done, file in enumerate(scan.files, start=1):
            self._visit(file, known.get(file.path))
            if self._batch and self._is_batch_full():
                self._commit()
            progress(done, len(scan.files))
        self._commit()
        self._visit_moved()
        self.report.excluded = dict(exclusions.counts.most_common())
        if scan.links:
            self.report.excluded[LINKS] = len(scan.links)
        removed, problems = self._removal(scan, known, exclusions)
        self.report.removed += removed
        self.report.problems += problems
        self.report.unread += self._removal.keeps_all
        record_trust(
            self._documents, self._transactions, self._publisher, known.values(), self._folder.origin
        )
        self._stores.links.aim()
        for unresolved in self._stores.claims.aim(self._transactions):
            if unresolved.note.collection == self._folder.name:
                self._complain(str(unresolved))
        for circular in self._stores.claims.circular():
            if circular.notes[0].collection == self._folder.name:
                self._complain(str(circular))

    # -- reading, outside of transactions -----------------------------------------------------------

    def _visit(self, file: SourceFile, known: Document | None, attempt: int = 1) -> None:
        served = known is not None and known.inactive is None
        again = served and self._force
        if known and known.stamp == file.stamp and not again and known.inactive is not InactiveReason.REMOVED:
            self.report.unchanged += served
            return
        if known and is_forgotten(known):
            self._mention_forgotten(file, known)
            return
        try:
            data = self._files.read(self._folder.root, file.path)
            if not again and is_current(known, source_hash(data)):
                self._batch.append(_Change(file, known, attempt))
                return
            parsed = self._parse(file, data, known)
            past = self._past(parsed, known) if attempt == 1 else None
            if past is None:
                self._batch.append(_Change(file, known, attempt, parsed))
            else:
                is_same = past.hash == parsed.document.hash
                self._moved.setdefault(past.id, []).append(MovedFile(file, known, is_same))
        except SourceUnreadable as error:
            self._miss(str(error))

    def _visit_moved(self) -> None:
        """
        Read new files again that may have been moved; several copies of one document count as new.

        An unchanged copy goes before edited ones.
        """
        self._moves.look_again()
        for files in self._moved.values():
            likely = [file for file in files if file.is_same] or files
            for file in files:
                self._visit_new(file.file, file.known, is_only_one=likely == [file])
                if self._is_batch_full():
                    self._commit()
        self._commit()

    def _visit_new(self, file: SourceFile, known: Document | None, *, is_only_one: bool) -> None:
        try:
            data = self._files.read(self._folder.root, file.path)
        except SourceUnreadable as error:
            self._miss(str(error))
            return
        parsed = self._parse(file, data, known)
        past = self._past(parsed, known) if is_only_one else None
        parsed = self._parse(file, data, past) if past else parsed
        self._batch.append(_Change(file, known, 1, parsed, past))

    def _past(self, parsed: ParsedSource, known: Document | None) -> Document | None:
        """Return the document that a file without a served record was moved from, if any."""
        if known is not None and known.inactive is not InactiveReason.REMOVED:
            return None
        past = self._moves.past(parsed)
        return None if past is None or (known is not None and past.id == known.id) else past

    def _parse(self, file: SourceFile, data: bytes, known: Document | None) -> ParsedSource:
        return parse_source(
            data,
            self._folder.name,
            file.path,
            file.stamp,
            now_ms=self._clock.now_ms(),
            parse_yaml=self._parse_yaml,
            known=known,
            trust=trust_of(self._folder.name, self._folder.origin),
            extract=self._folder.extract,
            about=self._folder.about(file.path),
            split=self._folder.split,
        )

    def _is_batch_full(self) -> bool:
        characters = sum(len(change.parsed.body) for change in self._batch if change.parsed)
        return len(self._batch) >= BATCH_NOTES or characters >= BATCH_CHARACTERS

    # -- writing ------------------------------------------------------------------------------------

    def _commit(self) -> None:
        """Commit the batch. Read and compare a file again if another process changed its record."""
        while self._batch:
            batch, self._batch = self._batch, []
            done = apply_in_chunks(self._transactions, batch, self._apply, finish=self._index_words)
            for change, outcome in zip(batch, done, strict=True):
                if outcome is _Outcome.WRITTEN:
                    self._count(change)
                elif outcome is _Outcome.OUTDATED:
                    self._visit_again(change)
                else:
                    self._count_forgotten(change)

    def _apply(self, change: _Change) -> _Outcome:
        """
        Write one change, inside a transaction, unless another process changed the record.

        Raises:
            CollectionRemoved: checked inside the transaction, so that no document outlives its collection.
        """
        if not self._folder.is_configured():
            raise CollectionRemoved
        if version_of(self._documents.at(self._folder.name, change.file.path)) != version_of(change.known):
            return _Outcome.OUTDATED
        if change.past and version_of(self._documents.get(change.past.id)) != version_of(change.past):
            return _Outcome.OUTDATED
        if parsed := change.parsed:
            texts = self._stores.forgotten_texts
            if is_forgotten_file(self._documents, texts, parsed.body, change.known, change.past):
                if change.known:
                    self._publisher.withdraw([change.known.id], InactiveReason.REMOVED)
                return _Outcome.FORGOTTEN
            if change.past:
                move(self._documents, change.past, parsed)
            self._saved.append(
                self._publisher.save(parsed.document, parsed.body, parsed.fragments, parsed.declared)
            )
        elif change.known:
            stamp = settled(change.file.stamp, self._clock.now_ms())
            self._documents.touch(change.known.id, stamp)
        return _Outcome.WRITTEN

    def _index_words(self) -> None:
        saved, self._saved = self._saved, []
        self._publisher.index_words(saved)

    def _mention_forgotten(self, file: SourceFile, known: Document) -> None:
        """Report a file that was written after its note was forgotten: the user may expect to find its text."""
        forgotten_ms = max(
            (parse_iso(act.at) or 0 for act in self._stores.acts.latest(1, known.id)), default=0
        )
        if file.stamp.mtime_ns // 1_000_000 > forgotten_ms:
            self._complain(
                f"{known.display_path} was forgotten on request, so its file is not read, although it was written "
                "since. To index the new text, save it under another name."
            )

    def _count_forgotten(self, change: _Change) -> None:
        self.report.removed += change.known is not None and change.known.inactive is None
        self._complain(
            f"{change.file.path} has the same text as a note that was forgotten on request, and is not indexed. "
            "Change its text to index it."
        )

    def _count(self, change: _Change) -> None:
        before = change.past or change.known
        served = before is not None and before.inactive is None
        if change.parsed is None:
            self.report.unchanged += served
            return
        if change.parsed.complaint:
            self._complain(f"{change.parsed.document.display_path}: {change.parsed.complaint}.")
        if served:
            self.report.updated += 1
        else:
            self.report.added += 1

    def _visit_again(self, change: _Change) -> None:
        path = change.file.path
        if change.attempt >= MOST_ATTEMPTS:
            self._complain(f"{path} is being indexed by another process; the next update reads it.")
            return
        known = self._documents.at(self._folder.name, path)
        self._visit(change.file, known, change.attempt + 1)

    def _miss(self, problem: str) -> None:
        """Report a file or folder that could not be read."""
        self.report.unread += 1
        self._complain(problem)

    def _complain(self, problem: str) -> None:
        self.report.problems.append(problem)
