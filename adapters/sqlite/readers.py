"""Pool of read-only connections, and read transactions for many queries, which read nothing twice."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias, TypeVar
from weakref import WeakValueDictionary

import apsw

from clawmem.adapters.sqlite.connections import Bindings, FrozenConnection, Row

MOST_IDLE = 6  # connections in the pool; each takes 0.7 MB, and more than four readers seldom work at once

File: TypeAlias = tuple[object, ...]
Made = TypeVar("Made")


class ReaderPool:
    """
    Pool of read-only connections to one file.

    A connection per thread would be idle most of the time, with its own cache and schema.

    Args:
        open_one: Opens another connection.
    """

    def __init__(self, open_one: Callable[[], apsw.Connection]) -> None:
        self._open_one = open_one
        self._idle: list[apsw.Connection] = []
        self._lock = threading.Lock()

    def lend(self, ask: Callable[[apsw.Connection], Made]) -> Made:
        """
        Return the result of *ask*, called with a connection that no other thread uses; closed after an error.

        Does the same as `lent` at a fraction of its cost.
        """
        connection = self._take()
        try:
            made = ask(connection)
        except BaseException:
            connection.close()
            raise
        self._take_back(connection)
        return made

    @contextmanager
    def lent(self) -> Iterator[apsw.Connection]:
        """Lend a connection for the block, which no other thread uses; closed after an error."""
        connection = self._take()
        try:
            yield connection
        except Exception:
            connection.close()
            raise
        except BaseException:  # the consumer left a stream early
            self._take_back(connection)
            raise
        self._take_back(connection)

    @contextmanager
    def snapshot(self) -> Iterator[ReadSnapshot]:
        """Lend a connection in a read transaction for the block, to one thread; closed if a query failed."""
        connection = self._take()
        snapshot = ReadSnapshot(connection)
        try:
            with snapshot.lent():
                connection.execute("begin")
            yield snapshot
        finally:
            if snapshot.failed:
                connection.close()
            else:
                connection.execute("commit")
                self._take_back(connection)

    def close_idle(self) -> None:
        """Close the connections that no thread uses."""
        with self._lock:
            while self._idle:
                self._idle.pop().close()

    def _take(self) -> apsw.Connection:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return self._open_one()

    def _take_back(self, connection: apsw.Connection) -> None:
        with self._lock:
            if len(self._idle) < MOST_IDLE and not isinstance(connection, FrozenConnection):
                self._idle.append(connection)
                return
        connection.close()


# Weak references: when the last user of a file drops its pool, the connections close.
_SHARED: WeakValueDictionary[File, ReaderPool] = WeakValueDictionary()
_SHARING = threading.Lock()


def readers_of(file: File, open_one: Callable[[], apsw.Connection]) -> ReaderPool:
    """Return the pool of *file*, which all users of the file share; *open_one* opens its connections."""
    with _SHARING:
        return _SHARED.setdefault(file, ReaderPool(open_one))


MOST_ROWS = 200  # rows of a result that is kept; longer ones are hits of a frequent word, read once anyway


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
