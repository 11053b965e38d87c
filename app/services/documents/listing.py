"""Listing of documents: their shortest unambiguous ids, and pages of all served documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clawmem.domain.documents.identity import DOCID_LENGTH, docid
from clawmem.ports.documents import DocumentStore
from clawmem.ports.records import Document


def docids(store: DocumentStore, documents: Sequence[Document]) -> dict[int, str]:
    """Return the shortest unique prefix of each document's hash, by document id."""
    return {
        document.id: docid(document.hash, {note.hash for note in store.by_hash(document.hash[:DOCID_LENGTH])})
        for document in documents
    }


AT_ONCE = 200  # ten thousand at once take 15 MB, and a transaction for each page takes well under 50 ms


def every_served(store: DocumentStore) -> Iterator[Document]:
    """Yield each served document by id; documents added during the iteration are included, deleted ones are not."""
    for page in pages(store):
        yield from page


def pages(store: DocumentStore) -> Iterator[Sequence[Document]]:
    """Yield the served documents by id, in pages of at most `AT_ONCE`."""
    last = 0
    while page := store.following(last, AT_ONCE):
        yield page
        last = page[-1].id
