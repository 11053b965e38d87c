from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Row = Mapping[str, Any]


class Changes:
    """What one commit is about: documents taken out, then rows put in, in the order in which they were said."""

    def __init__(self) -> None:
        self.removed: set[int] = set()
        self._rows: dict[int, dict[int, Row]] = {}  # by document, then key: the last word on a key counts

    def put(self, document_id: int, key: int, row: Row) -> None:
        """Add a row, or replace the one with its key."""
        self._rows.setdefault(document_id, {})[key] = row

    def remove(self, document_id: int) -> None:
        """Take every row of a document out, those put in before included."""
        self._rows.pop(document_id, None)
        self.removed.add(document_id)

    def rows(self) -> Iterator[Row]:
        """The rows to be there after the commit, each key once."""
        for of_document in self._rows.values():
            yield from of_document.values()
