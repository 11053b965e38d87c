"""Database connection of a vault: opens SQLite, waits for locks, and reads from snapshots."""

from __future__ import annotations

import json
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property, partial
from itertools import count
from typing import Any, TypeVar

import apsw

from clawmem.adapters.sqlite.connections import (
    Bindings,
    Row,
    busy_handler,
    open_reader,
    open_writer,
)
from clawmem.adapters.sqlite.readers import ReaderPool, ReadSnapshot, readers_of
from clawmem.adapters.sqlite.sqlite_errors import explained
from clawmem.ports.errors import InterruptedAfterCommit, NotAVault, VaultLocked

Made = TypeVar("Made")

MEMORY = ":memory:"
_EXPLAINED = (apsw.Error, UnicodeError, OverflowError)

_WRITERS: Counter[str] = Counter()


class Database:
    """
    A writer connection, and a pool of read-only connections for the other threads.

    With several readers, two retrievers of one query run in parallel, because SQLite releases the GIL while
    it works. All `Database` objects of the process that open the same file share the readers. Inside a
    transaction, the writing thread reads its own changes.
    """

    _checkpoints_log = True  # a database opened for writing checkpoints the write-ahead log when it closes

    def __init__(self, path: str, *, read_only: bool = False) -> None:
        if os.path.isdir(path):  # noqa: PTH112
            raise NotAVault(path, "it is a folder, and a vault is a file")
        self.path = path
        self.read_only = read_only
        self.has_lost_pages = False  # see `clawmem.adapters.sqlite.abandoning`
        self._owner = threading.get_ident()
        self._of_thread = threading.local()
        if not read_only:
            with self._translated():
                self._main  # noqa: B018  opened, and made where there is none
        file = (path, *file_identity(path))
        self._readers = readers_of(file, partial(open_reader, path))
        self._checkpoints_log = self._checkpoints_log and not read_only
        _WRITERS[path] += self._checkpoints_log
        if read_only:
            self._try()

    # -- reading ------------------------------------------------------------------------------------

    def rows(self, sql: str, bindings: Bindings = ()) -> list[Row]:
        """Return all rows of a query."""
        if snapshot := self._snapshot():
            with self._translated():
                return snapshot.rows(sql, bindings)
        return self._read(lambda reader: list(reader.execute(sql, bindings)))

    def records(self, sql: str, keys: Iterable[int], make: Callable[[Row], Made]) -> dict[int, Made]:
        """
        Return the records with these keys, in ascending order of the keys; keys without a record are left out.

        Args:
            sql: Query for the records with the keys in a JSON list; its first column is the key.
            make: Makes the record from its row.
        """
        wanted = sorted(set(keys))
        if snapshot := self._snapshot():
            with self._translated():
                return snapshot.records(sql, wanted, make)
        made = {row[0]: make(row) for row in self.rows(sql, (json.dumps(wanted),))} if wanted else {}
        return {key: made[key] for key in wanted if key in made}

    def committed_rows(self, sql: str) -> list[Row]:
        """
        Return all rows of a query as last committed, without the changes of an open transaction.

        The query runs on a reader connection, so an error in it does not affect the writer.
        """
        if self.path == MEMORY:
            return self.rows(sql)
        with self._translated():
            return self._readers.lend(lambda reader: list(reader.execute(sql)))

    def stream(self, sql: str, bindings: Bindings = ()) -> Iterator[Row]:
        """Iterate over the rows of a query, for results that are too large to hold in memory."""
        with self.connection() as connection:
            yield from connection.execute(sql, bindings)

    @contextmanager
    def connection(self) -> Iterator[apsw.Connection]:
        """Lend one connection to read with, for statements that share a temporary table."""
        with self._translated():
            if snapshot := self._snapshot():
                with snapshot.lent() as reader:
                    yield reader
            elif self._reads_what_it_writes():
                yield self._main
            else:
                with self._readers.lent() as reader:
                    yield reader

    def row(self, sql: str, bindings: Bindings = ()) -> Row | None:
        """Return the first row of a query, or ``None``."""
        if snapshot := self._snapshot():
            with self._translated():
                return snapshot.row(sql, bindings)
        return self._read(lambda reader: next(iter(reader.execute(sql, bindings)), None))

    def value(self, sql: str, bindings: Bindings = ()) -> Any:
        """Return the first column of the first row of a query, or ``None``."""
        row = self.row(sql, bindings)
        return row[0] if row else None

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """
        Let this thread read the same state in the whole block. Its own writes inside the block are not part of it.

        Nested blocks are part of the outermost one. Without effect in memory and inside a transaction, whose thread
        reads its own changes. After an error each query reads the latest state again.
        """
        if self.path == MEMORY or self._snapshot() or (not self.read_only and self.in_transaction):
            yield
            return
        with self._translated(), self._readers.snapshot() as snapshot:
            self._of_thread.snapshot = snapshot
            try:
                yield
            finally:
                del self._of_thread.snapshot

    def meta(self, name: str) -> str | None:
        """Return a value of the table ``meta``; all of its few values are read, once in a snapshot."""
        rows = self.rows("select name, value from meta")
        return next((str(value) for found, value in rows if found == name), None)

    # -- writing ------------------------------------------------------------------------------------

    def write(self, sql: str, bindings: Bindings = ()) -> list[Row]:
        """Run one statement on the writer and return its rows."""
        # without a context manager, which would take a tenth of the time of a short statement
        try:
            return list(self._main.execute(sql, bindings))
        except _EXPLAINED as error:
            raise explained(error, self.path, read_only=self.read_only) from error

    def write_many(self, sql: str, bindings: Iterable[Bindings]) -> None:
        """Run one statement for each element of *bindings*."""
        try:
            self._main.executemany(sql, bindings)
        except _EXPLAINED as error:
            raise explained(error, self.path, read_only=self.read_only) from error

    def changes(self) -> int:
        """Return the number of rows that the last statement changed."""
        return self._main.changes()

    @property
    def in_transaction(self) -> bool:
        """Whether the writer is inside a transaction."""
        return self._main.in_transaction

    @contextmanager
    def atomic(self) -> Iterator[None]:
        """Run the block in a write transaction, or as part of the transaction that is already open."""
        if self._main.in_transaction:
            yield
            return
        is_ending = False
        try:
            # a deferred transaction that becomes a writer later cannot wait for the lock; it fails
            self.write("begin immediate")
            yield
            is_ending = True
            self.write("commit")
        except BaseException as error:
            # After some errors, such as a full disk, SQLite has already rolled back.
            if self._main.in_transaction:
                self._main.execute("rollback")
            elif is_ending and isinstance(error, KeyboardInterrupt):
                raise InterruptedAfterCommit from error
            raise

    @contextmanager
    def without_rules(self) -> Iterator[None]:
        """Disable triggers and foreign keys inside the block. Call this outside of a transaction."""
        rules = (apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, apsw.SQLITE_DBCONFIG_ENABLE_FKEY)
        for rule in rules:
            self._main.config(rule, 0)
        try:
            yield
        finally:
            for rule in rules:
                self._main.config(rule, 1)

    # -- life ---------------------------------------------------------------------------------------

    def write_ahead(self) -> None:
        """Switch the file to write-ahead logging for good, so that readers and a writer do not block each other."""
        patient = busy_handler()
        for attempt in count():
            try:
                with self._translated():
                    self._main.pragma("journal_mode", "wal")
                return
            except VaultLocked:
                # When several processes create the same vault, SQLite refuses all but one at once and ignores
                # the busy handler.
                if not patient(attempt):
                    raise

    def vacuum(self) -> None:
        """
        Rebuild the file without deleted data, and empty the write-ahead log.

        Raises:
            VaultLocked: another connection is still reading the previous state.
        """
        self.write("vacuum")
        self.write_ahead()
        if self.path != MEMORY and self.write("pragma wal_checkpoint(truncate)")[0][0]:
            raise VaultLocked(self.path)

    def close(self) -> None:
        """
        Close every connection; further calls do nothing. A reader that another thread uses is closed by that
        thread.
        """
        self._readers = _CLOSED
        # closed last, because a read-only connection does not checkpoint the log
        if "_main" in self.__dict__:
            # a retriever or model whose time ran out may still be using it
            with suppress(apsw.ThreadingViolationError):
                self._main.close()
        _WRITERS[self.path] -= self._checkpoints_log
        self._checkpoints_log = False

    def _read(self, ask: Callable[[apsw.Connection], Made]) -> Made:
        try:
            return ask(self._main) if self._reads_what_it_writes() else self._readers.lend(ask)
        except _EXPLAINED as error:
            raise explained(error, self.path, read_only=self.read_only) from error

    def _snapshot(self) -> ReadSnapshot | None:
        snapshot: ReadSnapshot | None = getattr(self._of_thread, "snapshot", None)
        return None if snapshot is None or snapshot.failed else snapshot

    def _reads_what_it_writes(self) -> bool:
        return self.path == MEMORY or (not self.read_only and threading.get_ident() == self._owner)

    def _try(self) -> None:
        """Raise the error that the first read of a read-only file gives."""
        try:
            self._read(lambda reader: None)
        except BaseException:
            self.close()
            raise

    @cached_property
    def _main(self) -> apsw.Connection:
        """The writer connection. For a read-only vault it is a reader, on which every write fails with an error."""
        return open_reader(self.path) if self.read_only else self._open()

    def _open(self) -> apsw.Connection:
        return open_writer(self.path)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except _EXPLAINED as error:
            raise explained(error, self.path, read_only=self.read_only) from error


def _no_more() -> apsw.Connection:
    raise apsw.ConnectionClosedError("it was closed")


_CLOSED = ReaderPool(_no_more)


def is_open_for_writing(path: str) -> bool:
    """Whether this process has the file open for writing, other than for a best-effort note."""
    return _WRITERS[path] > 0


def file_identity(path: str) -> tuple[int, ...]:
    """
    Return device and inode of the file at *path*, or an empty tuple if there is no such file.

    A file that replaces another one at the same path has different numbers.
    """
    with suppress(OSError, ValueError):
        found = os.stat(path)  # noqa: PTH116  avoids importing `pathlib` for every prompt
        return found.st_dev, found.st_ino
    return ()
