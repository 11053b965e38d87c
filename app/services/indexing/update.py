"""Index pass: synchronizes a collection's records with its folder."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from clawmem.app.services.indexing.claims import LinkTargets, NoteClaims
from clawmem.app.services.indexing.collections import record_trust, trust_of
from clawmem.app.services.indexing.exclusions import Exclusions
from clawmem.app.services.indexing.folders import (
    Folder,
    Ownership,
    known_sources,
    misnamed_sentence,
    root_of,
    scan_folder,
)
from clawmem.app.services.indexing.moves import MoveDetection, is_forgotten_file, is_hidden, move
from clawmem.app.services.indexing.publish import Publisher, SavedDocument, apply_in_chunks
from clawmem.app.services.indexing.source import ParsedSource, ParseYaml, parse_source, settled
from clawmem.domain.documents.eligibility import compile_pattern
from clawmem.domain.documents.identity import is_current, is_forgotten, source_hash, version_of
from clawmem.domain.documents.ignoring import Exclusion
from clawmem.domain.documents.times import parse_iso
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import SourceUnreadable
from clawmem.ports.files import FileSource
from clawmem.ports.journal import ActJournal, ForgottenTexts
from clawmem.ports.records import Document, InactiveReason, Scan, SourceFile
from clawmem.ports.storage import Transactions

Progress = Callable[[int, int], None]  # done, total

# Notes read before a commit, which an interrupted pass has to read again.
BATCH_NOTES = 32
BATCH_CHARACTERS = 200_000

LINKS = "the rule that symbolic links are not followed"

# A file that other processes publish again and again is left to the next pass after this many attempts.
MOST_ATTEMPTS = 3

# A folder that lacks nearly all of its files may be the empty mount point of a disk, or a mistyped pattern.
LEAST_LOST = 10  # documents; fewer are removed without a question
NEARLY_ALL = 0.9  # share of the documents of a collection
NAMED = 5  # documents that a sentence names


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


class PassInterrupted(KeyboardInterrupt):
    """An interrupt during a pass; ``report`` counts the committed files."""

    def __init__(self, report: PassReport) -> None:
        super().__init__(f"the pass over {report.collection} was interrupted")
        self.report = report


@dataclass(frozen=True, slots=True)
class UpdateCollection:
    """
    One pass over one folder, in write transactions of at most about 50 ms.

    Files are listed, read and split outside transactions. Each transaction compares the record of a path with the
    record that the pass has read, so that concurrent passes, and notes forgotten during a pass, are not overwritten.
    An interrupted pass keeps its commits, and the next pass continues.

    An unchanged file only costs a stat call. An unreadable file keeps its record; a missing folder, or a part of it
    that cannot be listed, deactivates nothing. A file that was moved or renamed stays the same document. A file with
    the text of a forgotten note is not indexed.

    Args:
        forget_again: Called before each pass, see `clawmem.app.services.lifecycle.proof`.
        roots: The absolute folder of each collection by name, to detect moves between them.
    """

    documents: DocumentStore
    transactions: Transactions
    publisher: Publisher
    claims: NoteClaims
    links: LinkTargets
    acts: ActJournal
    forgotten_texts: ForgottenTexts
    files: FileSource
    clock: Clock
    parse_yaml: ParseYaml
    forget_again: Callable[[], object] = lambda: None
    roots: Mapping[str, str] = field(default_factory=dict)

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
        update = _Pass(self, folder, force=force, allow_empty=allow_empty)
        try:
            update.run(progress)
        except KeyboardInterrupt as error:
            raise PassInterrupted(update.report) from error
        return update.report


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
        self._update = update
        self._documents = update.documents
        self._folder = folder
        self._force = force
        self._allow_empty = allow_empty
        self._batch: list[_Change] = []
        self._saved: list[SavedDocument] = []  # in the transaction
        self.report = PassReport(folder.name)

    def run(self, progress: Progress) -> None:
        """Run the pass."""
        folder, update = self._folder, self._update
        # Read the records before listing files, so that a document added in between is not taken for a deleted file.
        known = known_sources(self._documents, folder)
        exclusions = Exclusions(update.files, folder)
        scan = scan_folder(update.files, folder, exclusions)
        if not scan.root_exists:
            self._miss(f"{folder.root} is not there, or is no folder; its documents are kept as they are.")
            return
        for path in scan.unreadable:
            self._miss(f"{exclusions.why_unreadable(path)}; what is below is kept.")
        for path in scan.misnamed:
            self._miss(misnamed_sentence(path))
        roots = {**update.roots, folder.name: folder.root}
        self._moves = MoveDetection(self._documents, update.files, roots, self._missing(scan, known))
        for done, file in enumerate(scan.files, start=1):
            self._visit(file, known.get(file.path))
            characters = sum(len(change.parsed.body) for change in self._batch if change.parsed)
            if len(self._batch) >= BATCH_NOTES or characters >= BATCH_CHARACTERS:
                self._commit()
            progress(done, len(scan.files))
        self._commit()
        self.report.excluded = dict(exclusions.counts.most_common())
        if scan.links:
            self.report.excluded[LINKS] = len(scan.links)
        self._remove(scan, known, exclusions)
        record_trust(self._documents, update.transactions, update.publisher, known.values(), folder.origin)
        update.links.aim()
        for unresolved in update.claims.aim(update.transactions):
            if unresolved.note.collection == folder.name:
                self._complain(str(unresolved))
        for circular in update.claims.circular():
            if circular.notes[0].collection == folder.name:
                self._complain(str(circular))

    # -- reading, outside of transactions -----------------------------------------------------------

    def _visit(self, file: SourceFile, known: Document | None, attempt: int = 1) -> None:
        served = known is not None and known.inactive is None
        again = served and self._force
        is_new = known is None or known.inactive is InactiveReason.REMOVED
        if known and known.stamp == file.stamp and not again and not is_new:
            self.report.unchanged += served
            return
        if known and is_forgotten(known):
            self._mention_forgotten(file, known)
            return
        try:
            data = self._update.files.read(self._folder.root, file.path)
            if not again and is_current(known, source_hash(data)):
                self._batch.append(_Change(file, known, attempt))
                return
            parsed = self._parse(file, data, known)
            past = self._moves.past(parsed) if is_new and attempt == 1 else None
            if past is None or (known and past.id == known.id):
                self._batch.append(_Change(file, known, attempt, parsed))
            else:  # parsed again, because it keeps the time of its last change
                self._batch.append(_Change(file, known, attempt, self._parse(file, data, past), past))
        except SourceUnreadable as error:
            self._miss(str(error))

    def _parse(self, file: SourceFile, data: bytes, known: Document | None) -> ParsedSource:
        return parse_source(
            data,
            self._folder.name,
            file.path,
            file.stamp,
            now_ms=self._update.clock.now_ms(),
            parse_yaml=self._update.parse_yaml,
            known=known,
            trust=trust_of(self._folder.name, self._folder.origin),
            extract=self._folder.extract,
            about=self._folder.about(file.path),
            split=self._folder.split,
        )

    def _mention_forgotten(self, file: SourceFile, known: Document) -> None:
        """Report a file that was written after its note was forgotten: the user may expect to find its text."""
        acts = self._update.acts.latest(1, known.id)
        if file.stamp.mtime_ns // 1_000_000 > max((parse_iso(act.at) or 0 for act in acts), default=0):
            self._complain(
                f"{known.display_path} was forgotten on request, so its file is not read, although it was written "
                "since. To index the new text, save it under another name."
            )

    # -- writing ------------------------------------------------------------------------------------

    def _commit(self) -> None:
        """Commit the batch. Read and compare a file again if another process changed its record."""
        while self._batch:
            batch, self._batch = self._batch, []
            outcomes = apply_in_chunks(
                self._update.transactions, batch, self._apply, finish=self._index_words
            )
            for change, outcome in zip(batch, outcomes, strict=True):
                self._count(change, outcome)

    def _apply(self, change: _Change) -> _Outcome:
        """Write one change, inside a transaction, unless another process changed the record."""
        publisher, past, path = self._update.publisher, change.past, change.file.path
        if version_of(self._documents.at(self._folder.name, path)) != version_of(change.known):
            return _Outcome.OUTDATED
        if past and version_of(self._documents.get(past.id)) != version_of(past):
            return _Outcome.OUTDATED
        if parsed := change.parsed:
            texts = self._update.forgotten_texts
            if is_forgotten_file(self._documents, texts, parsed.body, change.known, past):
                if change.known:
                    publisher.withdraw([change.known.id], InactiveReason.REMOVED)
                return _Outcome.FORGOTTEN
            if past:
                move(self._documents, past, parsed)
            self._saved.append(
                publisher.save(parsed.document, parsed.body, parsed.fragments, parsed.declared)
            )
        elif change.known:
            stamp = settled(change.file.stamp, self._update.clock.now_ms())
            self._documents.touch(change.known.id, stamp)
        return _Outcome.WRITTEN

    def _index_words(self) -> None:
        saved, self._saved = self._saved, []
        self._update.publisher.index_words(saved)

    def _count(self, change: _Change, outcome: _Outcome) -> None:
        path, before = change.file.path, change.past or change.known
        was_served = before is not None and before.inactive is None
        if outcome is _Outcome.FORGOTTEN:
            self.report.removed += change.known is not None and change.known.inactive is None
            self._complain(
                f"{path} has the same text as a note that was forgotten on request, and is not indexed. "
                "Change its text to index it."
            )
        elif outcome is _Outcome.OUTDATED and change.attempt < MOST_ATTEMPTS:
            self._visit(change.file, self._documents.at(self._folder.name, path), change.attempt + 1)
        elif outcome is _Outcome.OUTDATED:
            self._complain(f"{path} is being indexed by another process; the next update reads it.")
        elif change.parsed is None:
            self.report.unchanged += was_served
        else:
            self.report.updated += was_served
            self.report.added += not was_served
            if change.parsed.complaint:
                self._complain(f"{change.parsed.document.display_path}: {change.parsed.complaint}.")

    # -- removal ------------------------------------------------------------------------------------

    def _missing(self, scan: Scan, known: Mapping[str, Document]) -> list[Document]:
        """Return the served documents of *known* without a file in *scan*; none if unreadable."""
        paths = {file.path for file in scan.files}
        return [
            document
            for path, document in known.items()
            if path not in paths
            and document.inactive is None
            and document.stamp is not None
            and not is_hidden(path, scan.unreadable)
        ]

    def _remove(self, scan: Scan, known: Mapping[str, Document], exclusions: Exclusions) -> None:
        """
        Remove the documents of *known* that *scan* misses, with a sentence about each rule that excludes some.

        If nearly all files are gone, or the pattern does not match them any more, their documents are kept, unless
        the caller allows otherwise: the disk may not be mounted, or the pattern may be mistyped.
        """
        folder, owners = self._folder, Ownership(self._folder.inside)
        missing = [note for note in self._missing(scan, known) if self._is_unchanged(note)]
        excluded: dict[Exclusion, list[Document]] = defaultdict(list)
        gone: list[Document] = []
        for note in missing:
            part = exclusions.explained(note.path)
            (excluded[part[1]] if part else gone).append(note)
        lost = [note for note in gone if owners.owner(f"{root_of(folder)}/{note.path}") is None]
        most = NEARLY_ALL * sum(note.inactive is None and note.stamp is not None for note in known.values())
        if len(lost) >= max(LEAST_LOST, most) and not self._allow_empty:
            self._miss(
                f"{folder.root} has no files any more of {len(lost):,} documents of collection {folder.name}, nearly "
                f"all, so they are kept: {_named(lost)}. Is its disk mounted, and is the pattern {folder.pattern} "
                "correct? To remove them, run: clawmem update --allow-empty"
            )
            paths = {note.path for note in lost}
            missing = [note for note in missing if note.path not in paths]
        else:
            matches = compile_pattern(folder.pattern)
            if unmatched := [note for note in gone if not matches(note.path)]:
                self._complain(
                    f"No longer found, because the pattern {folder.pattern} does not match: {_named(unmatched)}."
                )
        for rule, notes in excluded.items():
            self._complain(
                f"No longer found, because {rule} excludes it: {_named(notes)}. "
                "Without the rule the next update brings it back."
            )

        def withdraw(document: Document) -> int:
            if not self._is_unchanged(document):
                return 0
            return self._update.publisher.withdraw([document.id], InactiveReason.REMOVED)

        self.report.removed += sum(apply_in_chunks(self._update.transactions, missing, withdraw))

    def _is_unchanged(self, document: Document) -> bool:
        """Whether the record at the path of *document* is still the one that this pass has read."""
        return version_of(self._documents.at(self._folder.name, document.path)) == version_of(document)

    def _miss(self, problem: str) -> None:
        """Report a file or folder that could not be read."""
        self.report.unread += 1
        self._complain(problem)

    def _complain(self, problem: str) -> None:
        self.report.problems.append(problem)


def _named(documents: Sequence[Document]) -> str:
    more = len(documents) - NAMED
    return f"{', '.join(document.path for document in documents[:NAMED])}{f' and {more} more' if more > 0 else ''}"
