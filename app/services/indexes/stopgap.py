"""Fallback lexical search from the records while the serving index is lost or damaged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock

from clawmem.app.services.documents.listing import pages
from clawmem.ports.documents import DocumentStore
from clawmem.ports.indexes import LexicalIndex, Outbox
from clawmem.ports.records import LexicalEntry, Marker
from clawmem.ports.storage import Storage

Entries = Callable[[Sequence[int]], Sequence[LexicalEntry]]


class Stopgap:
    """
    In-memory lexical index, built from all records when the serving index cannot answer.

    It is built by the first query that needs it, and rebuilt after every change of the records. Building takes about
    as long as a rebuild of the serving index; nothing is written to disk.

    Args:
        entries: Returns the lexical entries of documents.
    """

    def __init__(self, documents: DocumentStore, outbox: Outbox, storage: Storage, entries: Entries) -> None:
        self._documents = documents
        self._outbox = outbox
        self._storage = storage
        self._entries = entries
        self._making = Lock()
        self._made: tuple[Marker, LexicalIndex] | None = None

    def index(self) -> LexicalIndex:
        """Return the index of the current records."""
        with self._making:  # the retrievers of one query share the index
            head = self._outbox.head()
            if self._made is None or self._made[0] != head:
                self._drop()
                self._made = head, self._filled()
            return self._made[1]

    def close(self) -> None:
        """Release the memory."""
        with self._making:
            self._drop()

    def _filled(self) -> LexicalIndex:
        index = self._storage.scratch_lexical()
        with index.committing():
            for page in pages(self._documents):
                index.put(self._entries([document.id for document in page]))
        return index

    def _drop(self) -> None:
        made, self._made = self._made, None
        if made:
            made[1].close()
