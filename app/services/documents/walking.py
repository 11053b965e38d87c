"""Pagination of all served documents, which would take 15 MB of memory per ten thousand at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clawmem.ports.documents import DocumentStore
from clawmem.ports.records import Document

AT_ONCE = 200


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
