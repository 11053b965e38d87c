"""Selection of the documents of an export."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from clawmem.app.services.documents.listing import every_served
from clawmem.domain.portability.note_files import NoteFile, note_file
from clawmem.ports.records import Document
from clawmem.ports.stores import DocumentRecords


class Selection(NamedTuple):
    """
    The exported documents: of these collections, all if empty, and written at ``since`` or later, if given.

    Forgotten places are exported for their collections at any time.
    """

    collections: frozenset[str] = frozenset()
    since: str = ""

    @property
    def is_everything(self) -> bool:
        """Whether nothing is left out."""
        return not self.collections and not self.since

    def holds(self, document: Document) -> bool:
        """Whether *document* is exported."""
        return self._in_collections(document) and document.authored_at >= self.since

    def holds_place(self, document: Document) -> bool:
        """Whether the record of a *document* that is not served is exported."""
        is_forgotten = str(document.inactive) == "forgotten"
        return self._in_collections(document) and (is_forgotten or document.authored_at >= self.since)

    def _in_collections(self, document: Document) -> bool:
        return not self.collections or document.collection in self.collections


def selected(vault: DocumentRecords, selection: Selection) -> Iterator[tuple[Document, str]]:
    """Yield the served documents of *selection* with their bodies, by id."""
    for document in every_served(vault.documents):
        if selection.holds(document):
            yield document, vault.documents.body(document.id) or ""


def selected_files(vault: DocumentRecords, selection: Selection) -> Iterator[tuple[Document, NoteFile]]:
    """Yield the served documents of *selection* as Markdown files with different names."""
    taken: set[str] = set()
    for document, body in selected(vault, selection):
        file = note_file(document, body, taken)
        taken.add(file.name.casefold())
        yield document, file
