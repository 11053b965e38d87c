"""Detection of moved notes, which keep their document, and of forgotten texts, which are not indexed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePath

from clawmem.app.services.indexing.source import ParsedSource
from clawmem.domain.documents.eligibility import is_excluded
from clawmem.domain.documents.identity import body_hash
from clawmem.domain.text.likeness import LEAST_LIKENESS, likeness
from clawmem.ports.documents import DocumentStore
from clawmem.ports.files import FileSource
from clawmem.ports.journal import ForgottenTexts
from clawmem.ports.records import Document, InactiveReason, Scan


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


class MoveDetection:
    """
    Finds the document whose file was moved or renamed to a new file.

    Of several new files the first one is the document, and the others are copies.

    Args:
        roots: The absolute folder of each collection, by its name.
        missing: Served documents whose files are gone, which are found even after an edit.
    """

    def __init__(
        self,
        documents: DocumentStore,
        files: FileSource,
        roots: Mapping[str, str],
        missing: Iterable[Document],
    ) -> None:
        self._documents = documents
        self._files = files
        self._roots = roots
        self._prefixes = {name: f"{PurePath(root).as_posix().rstrip('/')}/" for name, root in roots.items()}
        self._missing: dict[str, list[int]] = {}  # by title and by file name
        for document in missing:
            for name in _names(document):
                self._missing.setdefault(name, []).append(document.id)
        self._listings: dict[str, tuple[frozenset[str], Scan]] = {}  # by collection

    def past(self, parsed: ParsedSource) -> Document | None:
        """
        Return the document that *parsed* was moved from; ``None`` if several match.

        That is the document of the same file in a collection around or inside, then one with the same text, then one
        with the same title or file name and most of the text. A served one goes before a removed one.
        """
        place = parsed.document
        file = f"{self._prefixes[place.collection]}{place.path}"
        for collection, prefix in self._prefixes.items():
            if collection != place.collection and file.startswith(prefix):
                document = self._documents.at(collection, file.removeprefix(prefix))
                if document and document.stamp and document.inactive in (None, InactiveReason.REMOVED):
                    return document
        holders = [note for note in self._documents.holding(place.hash) if note.stamp and note.body_length]
        unchanged = [note for note in holders if note.inactive is None and self._is_missing(note)]
        removed = [note for note in holders if note.inactive is InactiveReason.REMOVED]
        matches = unchanged or removed
        alike = {number for name in _names(place) for number in self._missing.get(name, ())}
        if alike and not matches:
            matches = [
                note
                for note in self._documents.many(alike).values()
                if note.inactive is None
                and self._is_missing(note)
                and likeness(self._documents.body(note.id) or "", parsed.body) >= LEAST_LIKENESS
            ]
        return matches[0] if len(matches) == 1 else None

    def _is_missing(self, document: Document) -> bool:
        """Whether the folder of *document* exists and its file does not; False for an unreadable folder."""
        if document.collection not in self._roots:
            return False
        if document.collection not in self._listings:
            root = self._roots[document.collection]
            scan = self._files.scan(root, enter=lambda path: not is_excluded(path), wanted=lambda path: True)
            self._listings[document.collection] = frozenset(file.path for file in scan.files), scan
        files, scan = self._listings[document.collection]
        is_listed = scan.root_exists and not is_hidden(document.path, scan.unreadable)
        return is_listed and document.path not in files


def _names(document: Document) -> set[str]:
    """Return the names by which a moved note may be recognised: its title and its file name."""
    return {document.title, document.path.rpartition("/")[2]}
