"""A read transaction for many queries, which reads nothing twice."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import apsw

from clawmem.adapters.sqlite.connections import Bindings, Row

MOST_ROWS = 200  # rows of a result that is kept; longer ones are hits of a frequent word, read once anyway

Made = TypeVar("Made")


class ReadSnapshot:
    """
    Queries of one thread that see the same state of the file, whatever others commit meanwhile.

    Because the state does not change, the result of a query is kept, and so is each record that was read by its key.
    ``failed`` tells whether a query raised an error, after which the connection must not be used any more.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._results: dict[tuple[object, ...], Any] = {}
        self._records: dict[str, dict[int, Any]] = {}
        self.failed = False

    @contextmanager
    def lent(self) -> Iterator[apsw.Connection]:
        """Lend the connection for the block."""
        try:
            yield self._connection
        except Exception:
            self.failed = True
            raise

    def rows(self, sql: str, bindings: Bindings) -> list[Row]:
        """Return all rows of a query."""
        key = sql, *_hashable(bindings)
        if key in self._results:
            return list(self._results[key])
        rows = self._run(lambda reader: list(reader.execute(sql, bindings)))
        if len(rows) <= MOST_ROWS:
            self._results[key] = tuple(rows)
        return rows

    def row(self, sql: str, bindings: Bindings) -> Row | None:
        """Return the first row of a query, or ``None``."""
        key = "first", sql, *_hashable(bindings)
        if key not in self._results:
            self._results[key] = self._run(lambda reader: next(iter(reader.execute(sql, bindings)), None))
        row: Row | None = self._results[key]
        return row

    def records(self, sql: str, keys: Sequence[int], make: Callable[[Row], Made]) -> dict[int, Made]:
        """See `clawmem.adapters.sqlite.database.Database.records`."""
        known: dict[int, Made | None] = self._records.setdefault(sql, {})
        if missing := [key for key in keys if key not in known]:
            found = self._run(lambda reader: list(reader.execute(sql, (json.dumps(missing),))))
            made = {row[0]: make(row) for row in found}
            known.update({key: made.get(key) for key in missing})
        return {key: record for key in keys if (record := known[key]) is not None}

    def _run(self, ask: Callable[[apsw.Connection], Made]) -> Made:
        try:
            return ask(self._connection)
        except BaseException:
            self.failed = True
            raise


def _hashable(bindings: Bindings) -> tuple[object, ...]:
    return tuple(bindings.items()) if isinstance(bindings, Mapping) else tuple(bindings)
