"""Detection of moved notes, which keep their document, and of forgotten texts, which are not indexed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import NamedTuple

from clawmem.app.services.indexing.source import ParsedSource
from clawmem.domain.documents.eligibility import is_excluded
from clawmem.domain.documents.likeness import LEAST_LIKENESS, likeness
from clawmem.ports.documents import DocumentStore
from clawmem.ports.files import FileSource
from clawmem.ports.forget_log import ForgottenTexts
from clawmem.ports.records import Document, InactiveReason, Scan, SourceFile


def is_forgotten_text(documents: DocumentStore, forgotten: ForgottenTexts, hash: str) -> bool:
    """
    Whether the body with this *hash* was forgotten on request, and no document contains it any more.

    While another document has the same text, copies of it are indexed.
    """
    return forgotten.holds(hash) and not documents.holding(hash)


def move(documents: DocumentStore, past: Document, parsed: ParsedSource) -> None:
    """
    Give the document *past* the path of its moved file.

    To be called inside `Vault.writing`, before *parsed* is published.

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
        self._missing: dict[tuple[str, str], dict[int, Document]] = {}  # by title and by file name
        self._listings: dict[str, tuple[frozenset[str], Scan]] = {}  # by collection

    def look_again(self) -> None:
        """Discard the cached listings of folders."""
        self._listings.clear()

    def expect(self, missing: Iterable[Document]) -> None:
        """Register *missing*, served documents whose files are gone, so that `past` finds them even after an edit."""
        for one in missing:
            for name in _names(one):
                self._missing.setdefault(name, {})[one.id] = one

    def past(self, parsed: ParsedSource) -> Document | None:
        """Return the document that *parsed* was moved from, unchanged or edited; ``None`` if several match."""
        return (
            self._of_other_collection(parsed.document)
            or self._unchanged(parsed.document.hash)
            or self._edited(parsed)
        )

    def _of_other_collection(self, place: Document) -> Document | None:
        """Return the document of the same file in a collection around or inside that of *place*, its owner now."""
        file = f"{self._root(place.collection)}/{place.path}"
        around = [
            one for one in self._roots if file.startswith(f"{self._root(one)}/") and one != place.collection
        ]
        paths = {one: file[len(self._root(one)) + 1 :] for one in around}
        found = filter(None, (self._documents.at(one, path) for one, path in paths.items()))
        left = (None, InactiveReason.REMOVED)
        return next((one for one in found if one.stamp and one.inactive in left), None)

    def _root(self, collection: str) -> str:
        return PurePath(self._roots[collection]).as_posix().rstrip("/")

    def _unchanged(self, hash: str) -> Document | None:
        """
        Return the only document with the body of this *hash* and a missing file; ``None`` if there are several.

        A served document, whose removal no pass has seen yet, comes before removed ones.
        """
        holders = [one for one in self._documents.holding(hash) if one.stamp and one.body_length]
        missing = [one for one in holders if one.inactive is None and self._is_missing(one)]
        removed = [one for one in holders if one.inactive is InactiveReason.REMOVED]
        found = missing or removed
        return found[0] if len(found) == 1 else None

    def _edited(self, parsed: ParsedSource) -> Document | None:
        """Return the only missing document with the title or file name of *parsed* and most of its text."""
        called_alike: dict[int, Document] = {}
        for name in _names(parsed.document):
            called_alike |= self._missing.get(name, {})
        found = [
            one
            for one in called_alike.values()
            if self._is_missing(one)
            and likeness(self._documents.body(one.id) or "", parsed.body) >= LEAST_LIKENESS
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
