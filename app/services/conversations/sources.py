"""Sources of imported documents, counted from the documents themselves."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from clawmem.app.services.portability.importing import tool_of_path
from clawmem.domain.conversations.units import conversation_of_path
from clawmem.domain.documents.address import OWN_COLLECTION
from clawmem.ports.documents import DocumentStore
from clawmem.ports.records import Document, InactiveReason, Origin


@dataclass(slots=True)
class ImportedSource:
    """
    One source in one collection: its served documents, with the times of the first and the last, and of the last import.

    A source is a program whose conversations were mined, or a tool whose memories were imported.
    """

    source: str
    collection: str
    documents: int
    first: str
    last: str
    imported_at: str


def imported_sources(documents: DocumentStore, configured: Collection[str]) -> list[ImportedSource]:
    """Return the sources by collection and name; a *configured* collection has files, so nothing is imported into it."""
    served: dict[tuple[str, str], list[Document]] = {}
    for name, document in imported_documents(documents, configured):
        if document.inactive is None:
            served.setdefault((document.collection, name), []).append(document)
    return [
        ImportedSource(
            name,
            collection,
            len(imported),
            min(document.authored_at for document in imported),
            max(document.authored_at for document in imported),
            max(document.indexed_at for document in imported),
        )
        for (collection, name), imported in sorted(served.items())
    ]


def imported_documents(
    documents: DocumentStore, configured: Collection[str]
) -> Iterator[tuple[str, Document]]:
    """Yield each imported document whose text the vault has, served or not, after the name of its source."""
    withdrawn = (document.collection for document in documents.latest(active=False))
    for collection in sorted({*documents.collections(), *withdrawn}.difference(configured)):
        for document in documents.sources(collection).values():
            name = ""
            if document.origin is Origin.IMPORTED and document.stamp is None:
                if document.collection == OWN_COLLECTION:
                    name = tool_of_path(document.path)
                elif conversation_of_path(document.path):  # not one that was derived from others
                    name = document.path.partition("/")[0]
            if name and document.inactive is not InactiveReason.FORGOTTEN:
                yield name, document
