"""Sources of imported documents, counted from the documents themselves."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from clawmem.app.services.portability.importing import tool_of_path
from clawmem.domain.conversations.places import CONVERSATION, conversation_of_path
from clawmem.domain.documents.address import OWN_COLLECTION
from clawmem.ports.documents import DocumentStore
from clawmem.ports.records import Document, InactiveReason, Origin


@dataclass(slots=True)
class ImportedSource:
    """
    One source in one collection: its served conversations and documents, with the times of the first and the last
    document, and of the last import.

    A source is a program whose conversations were mined, or a tool whose memories were imported, without conversations.
    """

    source: str
    collection: str
    conversations: int = 0
    documents: int = 0
    first: str = ""
    last: str = ""
    imported_at: str = ""


def imported_sources(documents: DocumentStore, configured: Collection[str]) -> list[ImportedSource]:
    """Return the sources by collection and name; a *configured* collection has files, so nothing is imported into it."""
    sources: dict[tuple[str, str], ImportedSource] = {}
    conversations: set[tuple[str, str]] = set()
    for name, document in _imported(documents, configured):
        if document.inactive is not None:
            continue
        new = ImportedSource(name, document.collection, first=document.authored_at)
        source = sources.setdefault((document.collection, name), new)
        key = conversation_of_path(document.path)
        if key and document.content_type == CONVERSATION:  # no memory, instruction or document of a project
            source.conversations += (document.collection, key) not in conversations
            conversations.add((document.collection, key))
        source.documents += 1
        source.first = min(source.first, document.authored_at)
        source.last = max(source.last, document.authored_at)
        source.imported_at = max(source.imported_at, document.indexed_at)
    return [sources[key] for key in sorted(sources)]


def documents_of_source(documents: DocumentStore, configured: Collection[str], source: str) -> list[Document]:
    """Return the documents of *source* in every collection whose text the vault has, served or not."""
    return [document for name, document in _imported(documents, configured) if name == source]


def _imported(documents: DocumentStore, configured: Collection[str]) -> Iterator[tuple[str, Document]]:
    """Yield each imported document that is not forgotten, after the name of its source."""
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
