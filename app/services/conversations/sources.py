"""Sources of imported documents, counted from the documents themselves."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from clawmem.app.services.conversations.positions import ImportPositions
from clawmem.domain.conversations.places import conversation_of_path, source_of_path
from clawmem.ports.documents import DocumentStore
from clawmem.ports.origin import Origin
from clawmem.ports.records import Document
from clawmem.ports.stores import LifecycleStores


@dataclass(slots=True)
class ImportedSource:
    """One source in one collection: its served conversations and documents, and their first and last time."""

    source: str
    collection: str
    conversations: int = 0
    documents: int = 0
    first: str = ""
    last: str = ""
    imported_at: str = ""


def imported_sources(documents: DocumentStore, configured: Collection[str]) -> list[ImportedSource]:
    """Return the sources by collection and name; a *configured* collection has files, so nothing is imported into it."""
    found: dict[tuple[str, str], ImportedSource] = {}
    conversations: set[tuple[str, str]] = set()
    for document in _imported(documents, configured):
        name = source_of_path(document.path)
        one = found.setdefault(
            (document.collection, name), ImportedSource(name, document.collection, first=document.authored_at)
        )
        place = (document.collection, conversation_of_path(document.path))
        one.conversations += place not in conversations
        conversations.add(place)
        one.documents += 1
        one.first, one.last = min(one.first, document.authored_at), max(one.last, document.authored_at)
        one.imported_at = max(one.imported_at, document.indexed_at)
    return [found[key] for key in sorted(found)]


def documents_of_source(documents: DocumentStore, configured: Collection[str], source: str) -> list[Document]:
    """Return the served documents of *source* in every collection."""
    return [one for one in _imported(documents, configured) if source_of_path(one.path) == source]


def read_again(vault: LifecycleStores, collections: Iterable[str]) -> None:
    """Let the next import of each of *collections* read its files again, to count forgotten documents."""
    with vault.writing():
        for collection in collections:
            ImportPositions(vault.captures, collection).expire_files()


def _imported(documents: DocumentStore, configured: Collection[str]) -> Iterator[Document]:
    for collection in documents.collections():
        if collection not in configured:
            for document in documents.sources(collection).values():
                is_imported = document.origin is Origin.IMPORTED and document.stamp is None
                if is_imported and document.inactive is None and conversation_of_path(document.path):
                    yield document
