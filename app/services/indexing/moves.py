"""Detection of moved notes, which keep their document, and of forgotten texts, which are not indexed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import NamedTuple

from clawmem.app.services.indexing.exclusions import Exclusions
from clawmem.app.services.indexing.folders import Folder, scan_folder
from clawmem.app.services.indexing.publish import Publisher, apply_in_chunks
from clawmem.app.services.indexing.source import ParsedSource
from clawmem.domain.documents.eligibility import compile_pattern, is_excluded
from clawmem.domain.documents.identity import body_hash, version_of
from clawmem.domain.documents.ignoring import Exclusion
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.text.likeness import LEAST_LIKENESS, likeness
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore
from clawmem.ports.files import FileSource
from clawmem.ports.journal import ForgottenTexts
from clawmem.ports.records import Document, InactiveReason, Scan, SourceFile
from clawmem.ports.storage import Transactions


def is_forgotten_text(documents: DocumentStore, forgotten: ForgottenTexts, body: str) -> bool:
    """
    Whether *body* was forgotten on request, and no document contains it any more.

    While another document has the same text, copies of it are indexed.
    """
    return forgotten.holds(body) and not documents.holding(body_hash(body))


def is_forgotten_file(
    documents: DocumentStore, forgotten: ForgottenTexts, body: str, *records: Document | None
) -> bool:
    """
    Whether a file with this *body* has a text that was forgotten on request.

    *records* are those of the file, at its place and before it was moved. Where one has a forgotten text, it is a copy
    that was served when the other note was forgotten, and stays.
    """
    return forgotten.holds(body) and not any(
        forgotten.holds(documents.body(document.id) or "") for document in records if document
    )


def move(documents: DocumentStore, past: Document, parsed: ParsedSource) -> None:
    """
    Give the document *past* the path of its moved file.

    To be called inside `Transactions.writing`, before *parsed* is published.

    A removed record without a stamp stays at the former path, because other notes may refer to it.
    """
    place = parsed.document
    documents.move(past.id, place.collection, place.path)
    former = past._replace(
        id=0,
        hash=place.hash,
        body_line=place.body_line,
        body_length=place.body_length,
        stamp=None,
        pinned=False,
        snoozed_until=None,
        access_count=0,
        last_accessed_at=None,
    )
    former_id = documents.save(former, parsed.body, ())
    documents.deactivate([former_id], InactiveReason.REMOVED)


def is_hidden(path: str, unreadable: tuple[str, ...]) -> bool:
    """Whether *path* is one of the *unreadable* folders, or below one."""
    return any(folder in ("", ".", path) or path.startswith(f"{folder}/") for folder in unreadable)


def lost_choices(document: Document, now: str, *, is_excluded: bool = False) -> str:
    """Return the sentence about a removed document that was pinned or snoozed at *now*; empty for any other."""
    chosen = {"pin": document.pinned, "snooze": document.is_snoozed(now)}
    names = [name for name, is_chosen in chosen.items() if is_chosen]
    if not names:
        return ""
    if is_excluded:
        return f"{document.display_path} loses its {' and '.join(names)} until it is no longer excluded."
    again = " and ".join(f"clawmem {name} NOTE" for name in names)
    return (
        f"{document.display_path} is gone, and with it its {' and '.join(names)}, until the file is back. "
        f"If the note has another name now, run: {again}"
    )


class MovedFile(NamedTuple):
    """A new file that may be a document from another place; ``is_same`` if its text is unchanged."""

    file: SourceFile
    known: Document | None
    is_same: bool


class MoveDetection:
    """Finds the document whose file was moved or renamed to a new file."""

    def __init__(self, documents: DocumentStore, files: FileSource, roots: Mapping[str, str]) -> None:
        """
        Args:
            roots: The absolute folder of each collection, by its name.
        """
        self._documents = documents
        self._files = files
        self._roots = roots
        self._prefixes = {name: f"{PurePath(root).as_posix().rstrip('/')}/" for name, root in roots.items()}
        self._missing: dict[tuple[str, str], dict[int, Document]] = {}  # by title and by file name
        self._listings: dict[str, tuple[frozenset[str], Scan]] = {}  # by collection

    def look_again(self) -> None:
        """Discard the cached listings of folders."""
        self._listings.clear()

    def expect(self, missing: Iterable[Document]) -> None:
        """Register *missing*, served documents whose files are gone, so that `past` finds them even after an edit."""
        for document in missing:
            for name in _names(document):
                self._missing.setdefault(name, {})[document.id] = document

    def past(self, parsed: ParsedSource) -> Document | None:
        """Return the document that *parsed* was moved from, unchanged or edited; ``None`` if several match."""
        return (
            self._of_other_collection(parsed.document)
            or self._unchanged(parsed.document.hash)
            or self._edited(parsed)
        )

    def _of_other_collection(self, place: Document) -> Document | None:
        """Return the document of the same file in a collection around or inside that of *place*, its owner now."""
        file = f"{self._prefixes[place.collection]}{place.path}"
        for collection, prefix in self._prefixes.items():
            if collection != place.collection and file.startswith(prefix):
                document = self._documents.at(collection, file.removeprefix(prefix))
                if document and document.stamp and document.inactive in (None, InactiveReason.REMOVED):
                    return document
        return None

    def _unchanged(self, hash: str) -> Document | None:
        """
        Return the only document with the body of this *hash* and a missing file; ``None`` if there are several.

        A served document, whose removal no pass has seen yet, comes before removed ones.
        """
        holders = [
            document for document in self._documents.holding(hash) if document.stamp and document.body_length
        ]
        missing = [
            document for document in holders if document.inactive is None and self._is_missing(document)
        ]
        removed = [document for document in holders if document.inactive is InactiveReason.REMOVED]
        found = missing or removed
        return found[0] if len(found) == 1 else None

    def _edited(self, parsed: ParsedSource) -> Document | None:
        """Return the only missing document with the title or file name of *parsed* and most of its text."""
        called_alike: dict[int, Document] = {}
        for name in _names(parsed.document):
            called_alike |= self._missing.get(name, {})
        found = [
            document
            for document in called_alike.values()
            if self._is_missing(document)
            and likeness(self._documents.body(document.id) or "", parsed.body) >= LEAST_LIKENESS
        ]
        return found[0] if len(found) == 1 else None

    def _is_missing(self, document: Document) -> bool:
        """Whether the folder of *document* exists and its file does not; False for an unreadable folder."""
        if document.collection not in self._roots:
            return False
        files, scan = self._listing(document.collection)
        return (
            scan.root_exists and document.path not in files and not is_hidden(document.path, scan.unreadable)
        )

    def _listing(self, collection: str) -> tuple[frozenset[str], Scan]:
        if collection not in self._listings:
            scan = self._files.scan(
                self._roots[collection], enter=lambda path: not is_excluded(path), wanted=lambda path: True
            )
            self._listings[collection] = frozenset(file.path for file in scan.files), scan
        return self._listings[collection]


def _names(document: Document) -> tuple[tuple[str, str], ...]:
    """Return the names by which a moved note may be recognised."""
    return ("title", document.title), ("file", document.path.rpartition("/")[2])


# A folder that lacks nearly all of its files may be the empty mount point of a disk, or a mistyped pattern.
LEAST_LOST = 10  # documents; fewer are removed without a question
NEARLY_ALL = 0.9  # share of the documents of a collection
NAMED = 5  # documents that a sentence names


@dataclass(slots=True)
class Removal:
    """
    Removes the documents of *folder* whose files are gone or excluded.

    If nearly all files of a collection are gone, or the pattern does not match them any more, their documents are kept,
    unless *allow_empty* says otherwise: the disk may not be mounted, or the pattern may be mistyped.
    """

    documents: DocumentStore
    transactions: Transactions
    publisher: Publisher
    files: FileSource
    clock: Clock
    folder: Folder
    allow_empty: bool
    keeps_all: bool = field(
        default=False, init=False
    )  # whether documents without a file that the pattern matches stay

    def __call__(
        self, scan: Scan, known: Mapping[str, Document], exclusions: Exclusions
    ) -> tuple[int, list[str]]:
        """Remove the documents of *known* that *scan* misses; return their number, and sentences about them."""
        missing = self.missing(scan, known, exclusions)
        reasons = {note.path: exclusions.explained(note.path) for note in missing}
        gone = [note for note in missing if reasons[note.path] is None]
        matches = compile_pattern(self.folder.pattern)
        unmatched = [note for note in gone if not matches(note.path)]
        problems: list[str] = []
        most = NEARLY_ALL * sum(note.inactive is None and note.stamp is not None for note in known.values())
        if unmatched and not self.allow_empty and len(unmatched) >= most:
            problems.append(self._unmatched(unmatched))
            missing = [note for note in missing if note not in unmatched]
            self.keeps_all = True
        elif not self.allow_empty and self._are_lost(gone, max(LEAST_LOST, most)):
            problems.append(self._kept(gone))
            missing = [note for note in missing if note not in gone]
            self.keeps_all = True
        elif unmatched:
            problems.append(
                f"No longer found, because the pattern {self.folder.pattern} does not match: {_named(unmatched)}."
            )
        missing = self._still_missing(missing, exclusions)
        removed = apply_in_chunks(self.transactions, missing, self._remove)
        served = [document for document, was_served in zip(missing, removed, strict=True) if was_served]
        excluded = [(note, found[1]) for note in served if (found := reasons[note.path])]
        problems += excluded_sentences(excluded)
        now, taken_over = iso_utc(self.clock.now_ms()), self._taken_over(served)
        lost = (
            lost_choices(note, now, is_excluded=reasons[note.path] is not None)
            for note in served
            if note.path not in taken_over
        )
        return len(served), [*problems, *filter(None, lost)]

    def missing(self, scan: Scan, known: Mapping[str, Document], exclusions: Exclusions) -> list[Document]:
        """Return the served documents of *known* without a file in *scan*; none if unreadable."""
        here = {file.path for file in scan.files}
        return [
            document
            for path, document in known.items()
            if scan.root_exists
            and path not in here
            and document.inactive is None
            and document.stamp is not None
            and not is_hidden(path, scan.unreadable)
        ]

    def _still_missing(self, missing: list[Document], exclusions: Exclusions) -> list[Document]:
        """List the files of *missing* again, as the first listing is as old as the pass."""
        if not missing:
            return []
        paths = [document.path for document in missing]
        scan = scan_folder(self.files, self.folder, paths)
        return self.missing(scan, {note.path: note for note in missing}, exclusions)

    def _taken_over(self, documents: list[Document]) -> set[str]:
        """Return the paths of files that nested collections own now: their documents move there, with every choice."""
        if not (documents and self.folder.inside):
            return set()
        paths = [document.path for document in documents]
        return {file.path for file in scan_folder(self.files, replace(self.folder, inside=()), paths).files}

    def _are_lost(self, gone: list[Document], least: float) -> bool:
        """Whether *least* documents of *gone* were neither moved nor taken over by nested collections."""
        if len(gone) < least:
            return False
        moved = {document.path for document in gone if not self._is_unchanged(document)} | self._taken_over(
            gone
        )
        return len(gone) - len(moved) >= least

    def _is_unchanged(self, document: Document) -> bool:
        """Whether the record at the path of *document* is still the one that this pass has read."""
        return version_of(self.documents.at(self.folder.name, document.path)) == version_of(document)

    def _kept(self, gone: list[Document]) -> str:
        return (
            f"{self.folder.root} lacks {len(gone):,} files of collection {self.folder.name}, nearly all, so their documents "
            f"are kept: {_named(gone)}. Is its disk mounted? To remove them, run: clawmem update --allow-empty"
        )

    def _unmatched(self, documents: Sequence[Document]) -> str:
        return (
            f"The pattern {self.folder.pattern} of collection {self.folder.name} does not match "
            f"{len(documents):,} of its documents, so they are kept: {_named(documents)}. Correct the "
            "pattern in the config file, or repeat the command with --allow-empty to remove them."
        )

    def _remove(self, document: Document) -> int:
        if not self._is_unchanged(document):
            return 0
        return self.publisher.withdraw([document.id], InactiveReason.REMOVED)


def _named(documents: Sequence[Document]) -> str:
    more = len(documents) - NAMED
    return f"{', '.join(document.path for document in documents[:NAMED])}{f' and {more} more' if more > 0 else ''}"


def excluded_sentences(excluded: Iterable[tuple[Document, Exclusion]]) -> list[str]:
    """Return a sentence for each rule that excludes documents that were served until now."""
    by_rule: dict[Exclusion, list[str]] = defaultdict(list)
    for document, rule in excluded:
        by_rule[rule].append(document.path)
    return [_excluded_sentence(rule, paths) for rule, paths in by_rule.items()]


def _excluded_sentence(rule: Exclusion, paths: list[str]) -> str:
    more = f" and {len(paths) - NAMED} more" if len(paths) > NAMED else ""
    names = f"{', '.join(paths[:NAMED])}{more}"
    return f"No longer found, because {rule} excludes it: {names}. Without the rule the next update brings it back."
