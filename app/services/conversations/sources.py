"""Sources of imported documents, counted from the documents themselves."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from clawmem.app.services.conversations.positions import ImportPositions
from clawmem.domain.capture.imported import tool_of_path
from clawmem.domain.conversations.places import CONVERSATION, conversation_of_path, source_of_path
from clawmem.domain.documents.address import OWN_COLLECTION
from clawmem.ports.documents import DocumentStore
from clawmem.ports.records import Document, InactiveReason, Origin
from clawmem.ports.sessions import CaptureStore
from clawmem.ports.storage import Transactions


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
    found: dict[tuple[str, str], ImportedSource] = {}
    conversations: set[tuple[str, str]] = set()
    for name, document in _imported(documents, configured):
        if document.inactive is not None:
            continue
        one = found.setdefault(
            (document.collection, name), ImportedSource(name, document.collection, first=document.authored_at)
        )
        key = conversation_of_path(document.path)
        if (
            key and document.content_type == CONVERSATION
        ):  # not a memory, an instruction or a document of a project
            one.conversations += (document.collection, key) not in conversations
            conversations.add((document.collection, key))
        one.documents += 1
        one.first, one.last = min(one.first, document.authored_at), max(one.last, document.authored_at)
        one.imported_at = max(one.imported_at, document.indexed_at)
    return [found[key] for key in sorted(found)]


def documents_of_source(documents: DocumentStore, configured: Collection[str], source: str) -> list[Document]:
    """Return the documents of *source* in every collection whose text the vault has, served or not."""
    return [document for name, document in _imported(documents, configured) if name == source]


def read_again(captures: CaptureStore, transactions: Transactions, collections: Iterable[str]) -> None:
    """Let the next import of each of *collections* read its files again, to count forgotten documents."""
    with transactions.writing():
        for collection in collections:
            ImportPositions(captures, collection).expire_files()


def _imported(documents: DocumentStore, configured: Collection[str]) -> Iterator[tuple[str, Document]]:
    """Yield each imported document that is not forgotten, after the name of its source."""
    withdrawn = (one.collection for one in documents.latest(active=False))
    for collection in sorted({*documents.collections(), *withdrawn}.difference(configured)):
        for document in documents.sources(collection).values():
            is_imported = document.origin is Origin.IMPORTED and document.stamp is None
            name = _source_of(document) if is_imported else ""
            if name and document.inactive is not InactiveReason.FORGOTTEN:
                yield name, document


def _source_of(document: Document) -> str:
    """Return the source of an imported document, empty for one that was derived from others."""
    if document.collection == OWN_COLLECTION:
        return tool_of_path(document.path)
    return source_of_path(document.path) if conversation_of_path(document.path) else ""
