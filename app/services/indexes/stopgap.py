"""Answers from the records while the index that serves words is lost or broken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock

from clawmem.app.services.documents.walking import pages
from clawmem.ports.lexical_index import LexicalIndex
from clawmem.ports.records import LexicalEntry, Marker
from clawmem.ports.vault import RecordVault

Entries = Callable[[Sequence[int]], Sequence[LexicalEntry]]


class Stopgap:
    """
    A lexical index in memory, made of all records when the index that serves cannot answer.

    It is made by the first question that needs it, and again after every change of the records. Making it takes
    about as long as a rebuild; nothing is written.

    Args:
        entries: What the lexical index holds of documents.
    """

    def __init__(self, records: RecordVault, entries: Entries) -> None:
        self._records = records
        self._entries = entries
        self._making = Lock()
        self._made: tuple[Marker, LexicalIndex] | None = None

    def index(self) -> LexicalIndex:
        """Return the index of the records as they are now."""
        with self._making:  # the legs of one question share it
            head = self._records.outbox.head()
            if self._made is None or self._made[0] != head:
                self._drop()
                self._made = head, self._filled()
            return self._made[1]

    def close(self) -> None:
        """Give the memory back."""
        with self._making:
            self._drop()

    def _filled(self) -> LexicalIndex:
        index = self._records.scratch_lexical()
        with index.committing():
            for page in pages(self._records.documents):
                index.put(self._entries([document.id for document in page]))
        return index

    def _drop(self) -> None:
        made, self._made = self._made, None
        if made:
            made[1].close()
