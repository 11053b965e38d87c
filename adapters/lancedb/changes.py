from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Row = Mapping[str, Any]


class Changes:
    """The changes of one commit: removed documents, then added rows, in the order of the calls."""

    def __init__(self) -> None:
        self.removed: set[int] = set()
        self._rows: dict[int, dict[int, Row]] = {}  # by document, then key: the last row of a key wins

    def put(self, document_id: int, key: int, row: Row) -> None:
        """Add a row, or replace the row with the same key."""
        self._rows.setdefault(document_id, {})[key] = row

    def remove(self, document_id: int) -> None:
        """Remove all rows of a document, including rows added earlier in this commit."""
        self._rows.pop(document_id, None)
        self.removed.add(document_id)

    def rows(self) -> Iterator[Row]:
        """Iterate over the rows to write, each key once."""
        for of_document in self._rows.values():
            yield from of_document.values()
