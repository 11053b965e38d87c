"""All served documents, a few at a time: together they take 15 MB for every ten thousand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clawmem.ports.documents import DocumentStore
from clawmem.ports.records import Document

AT_ONCE = 200


def every_served(store: DocumentStore) -> Iterator[Document]:
    """Each served document by its id; what comes meanwhile is met, what goes is not."""
    for page in pages(store):
        yield from page


def pages(store: DocumentStore) -> Iterator[Sequence[Document]]:
    """The same, as many at a time as are looked up together."""
    last = 0
    while page := store.following(last, AT_ONCE):
        yield page
        last = page[-1].id
