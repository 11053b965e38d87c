"""Database of a vault: opens its connections, waits for locks, and reads from snapshots."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from typing import Any, TypeAlias

import apsw

from clawmem.adapters.sqlite.sqlite_errors import ExplainedErrors
from clawmem.adapters.sqlite.vault_file import log_is_empty, refuse_special
from clawmem.ports.errors import ExtensionMissing, InterruptedAfterCommit, VaultLocked, VaultReadOnly

Row: TypeAlias = tuple[Any, ...]
Bindings: TypeAlias = Sequence[Any] | Mapping[str, Any]

MEMORY = ":memory:"
BUSY_TIMEOUT_S = 10.0
BEST_EFFORT_TIMEOUT_MS = 5  # a query does not wait to record itself
# Seven vectors of a kilobyte fit a page of 8 kB, and three fit one of 4 kB, SQLite's default. A vault with few notes has
# a page for each of a hundred tables and indexes, so pages are not larger.
PAGE_SIZE = 8192
READER_CACHE_KB = 512  # SQLite's default is 2000; there are several readers
MOST_IDLE = 3  # readers that stay open; each takes 0.7 MB
# Indexing a note takes about 110 different statements. With the default of 100, a tenth of them were prepared for each note.
_PREPARED_STATEMENTS = 256


# -- connections ------------------------------------------------------------------------------------


def open_reader(path: str) -> apsw.Connection:
    """
    Open a read-only connection.

    If SQLite cannot create a write-ahead log because the disk is full or read-only, a file whose log is
    missing or empty is opened as immutable.
    """
    try:
        connection = _connection(path, apsw.SQLITE_OPEN_READONLY)
        connection.execute("pragma schema_version")
    except (apsw.IOError, apsw.FullError, apsw.CantOpenError, apsw.ReadOnlyError):
        if not os.path.isfile(path) or not log_is_empty(path):  # noqa: PTH113
            raise
        from urllib.parse import quote

        address = f"file:{quote(os.path.abspath(path))}?immutable=1"  # noqa: PTH100
        connection = _connection(address, apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    connection.pragma("cache_size", -READER_CACHE_KB)
    return connection


def open_writer(path: str) -> apsw.Connection:
    """Open a writer connection, and create the file if it does not exist."""
    is_new = not os.path.exists(path) or not os.path.getsize(path)  # noqa: PTH110, PTH202  avoids importing `pathlib`
    connection = _connection(path, apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
    if is_new:
        connection.pragma("page_size", PAGE_SIZE)
    connection.pragma("foreign_keys", True)
    connection.pragma("synchronous", "full")
    return connection


def open_best_effort(path: str) -> apsw.Connection:
    """Open a writer that waits for other writers for 5 ms. It does not create the file: a deleted vault stays deleted."""
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(BEST_EFFORT_TIMEOUT_MS)
    connection.pragma("foreign_keys", True)
    # In write-ahead mode this can lose only the last transactions before a power failure.
    connection.pragma("synchronous", "normal")
    return connection


def _connection(path: str, flags: int) -> apsw.Connection:
    """Open a connection with sqlite-vec; raise `ExtensionMissing` if that is not installed, or does not fit."""
    connection = apsw.Connection(path, flags=flags, statementcachesize=_PREPARED_STATEMENTS)
    # Else SQLite compiles a statement again for each value that it compares with the condition of a partial index.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    # The time-out comes first, because the next statements may have to wait.
    connection.set_busy_timeout(round(BUSY_TIMEOUT_S * 1000))
    # Importing the package would import numpy, which takes longer than a search.
    package = find_spec("sqlite_vec")
    if package is None or not package.origin:
        raise ExtensionMissing(connection.filename, "the package sqlite-vec is not installed")
    try:
        connection.enable_load_extension(True)
        connection.load_extension(os.path.join(os.path.dirname(package.origin), "vec0"))  # noqa: PTH118, PTH120
        connection.enable_load_extension(False)
    except apsw.ExtensionLoadingError as error:
        raise ExtensionMissing(connection.filename, str(error)) from error
    return connection


# -- database ---------------------------------------------------------------------------------------


class Database:
    """
    A writer connection, and read-only connections for other threads.

    With several readers, two retrievers of one query run in parallel, because SQLite releases the GIL while it works.
    The thread that opened the database for writing reads with the writer, so it sees its own changes.

    Args:
        open_main: Opens the writer connection.
    """

    def __init__(
        self, path: str, *, read_only: bool = False, open_main: Callable[[str], apsw.Connection] = open_writer
    ) -> None:
        refuse_special(path)
        self.path = path
        self.read_only = read_only
        self.has_lost_pages = False  # see `clawmem.adapters.sqlite.abandoning`
        self._errors = ExplainedErrors(path, read_only=read_only)
        self._owner = threading.get_ident()
        self._of_thread = threading.local()
        self._idle: list[apsw.Connection] = []
        self._is_closed = False
        self._recorder: Database | None = None
        self._recorder_lock = threading.Lock()
        with self._errors:
            if read_only:
                self._idle.append(open_reader(path))
            else:
                self._main = open_main(path)

    # -- reading ------------------------------------------------------------------------------------

    def rows(self, sql: str, bindings: Bindings = ()) -> list[Row]:
        """Return all rows of a query."""
        with self.connection() as connection:
            return list(connection.execute(sql, bindings))

    def row(self, sql: str, bindings: Bindings = ()) -> Row | None:
        """Return the first row of a query, or ``None``."""
        with self.connection() as connection:
            return next(iter(connection.execute(sql, bindings)), None)

    def value(self, sql: str, bindings: Bindings = ()) -> Any:
        """Return the first column of the first row of a query, or ``None``."""
        row = self.row(sql, bindings)
        return row[0] if row else None

    def values(self, sql: str, bindings: Bindings = ()) -> list[Any]:
        """Return the first column of all rows of a query."""
        return [row[0] for row in self.rows(sql, bindings)]

    def stream(self, sql: str, bindings: Bindings = ()) -> Iterator[Row]:
        """Iterate over the rows of a query, for results that are too large to hold in memory."""
        with self.connection() as connection:
            yield from connection.execute(sql, bindings)

    @contextmanager
    def connection(self) -> Iterator[apsw.Connection]:
        """Lend one connection to read with, which no other thread uses meanwhile."""
        with self._errors:
            if snapshot := getattr(self._of_thread, "snapshot", None):
                yield snapshot
            elif self.path == MEMORY or (not self.read_only and threading.get_ident() == self._owner):
                yield self._main
            else:
                with self._reader() as reader:
                    yield reader

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """
        Let this thread read the same state in the whole block. Its own writes inside the block are not part of it.

        Nested blocks are part of the outermost one. Without effect in memory and inside a transaction, whose thread
        reads its own changes.
        """
        has_snapshot = hasattr(self._of_thread, "snapshot")
        if self.path == MEMORY or has_snapshot or (not self.read_only and self.in_transaction):
            yield
            return
        with self._errors, self._reader() as reader:
            reader.execute("begin")
            self._of_thread.snapshot = reader
            try:
                yield
            finally:
                del self._of_thread.snapshot
                reader.execute("rollback")

    def meta(self, name: str) -> str | None:
        """Return a value of the table ``meta``."""
        value = self.value("select value from meta where name = ?", (name,))
        return None if value is None else str(value)

    # -- writing ------------------------------------------------------------------------------------

    def write(self, sql: str, bindings: Bindings = ()) -> list[Row]:
        """Run one statement on the writer and return its rows."""
        with self._errors:
            return list(self._writer().execute(sql, bindings))

    def write_many(self, sql: str, bindings: Iterable[Bindings]) -> None:
        """Run one statement for each element of *bindings*."""
        with self._errors:
            self._writer().executemany(sql, bindings)

    def change(self, sql: str, bindings: Bindings = ()) -> int:
        """Run one statement on the writer and return the number of rows that it changed."""
        self.write(sql, bindings)
        return self._writer().changes()

    @property
    def in_transaction(self) -> bool:
        """Whether the writer is inside a transaction."""
        return self._writer().in_transaction

    @contextmanager
    def atomic(self) -> Iterator[None]:
        """Run the block in a write transaction, or as part of the transaction that is already open."""
        if self.in_transaction:
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
            if self.in_transaction:
                self._main.execute("rollback")
            elif is_ending and isinstance(error, KeyboardInterrupt):
                raise InterruptedAfterCommit from error
            raise

    @contextmanager
    def without_rules(self) -> Iterator[None]:
        """Disable triggers and foreign keys inside the block. Call this outside of a transaction."""
        rules = (apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, apsw.SQLITE_DBCONFIG_ENABLE_FKEY)
        for rule in rules:
            self._writer().config(rule, 0)
        try:
            yield
        finally:
            for rule in rules:
                self._writer().config(rule, 1)

    @contextmanager
    def best_effort(self) -> Iterator[Database]:
        """
        Lend a writer that waits for other writers for 5 ms, also of a database that is opened for reading only.

        Its connection stays open. Closed last, it moves the log into the file, which a reader cannot do.

        Raises:
            VaultLocked, VaultReadOnly, VaultFull, VaultError: the vault cannot be written, or is locked.
        """
        if self.path == MEMORY:  # a database in memory has no second connection
            yield self
            return
        with self._recorder_lock:
            recorder = self._recorder or Database(self.path, open_main=open_best_effort)
            self._recorder = None
            try:
                yield recorder
            except BaseException:
                recorder.close()
                raise
            if self._is_closed:
                recorder.close()
            else:
                self._recorder = recorder

    # -- life ---------------------------------------------------------------------------------------

    def write_ahead(self) -> None:
        """Switch the file to write-ahead logging for good, so that readers and a writer do not block each other."""
        end = time.monotonic() + BUSY_TIMEOUT_S
        while True:
            try:
                self.write("pragma journal_mode = wal")
                return
            except VaultLocked:
                # When several processes create the same vault, SQLite refuses all but one without waiting.
                if time.monotonic() > end:
                    raise
                time.sleep(0.005)

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
        """Close every connection, again without effect; a reader in use is closed by the thread that uses it."""
        self._is_closed = True
        while self._idle:
            self._idle.pop().close()
        if self._recorder:
            self._recorder.close()
        if not self.read_only:
            # a retriever or model whose time ran out may still be using it
            with suppress(apsw.ThreadingViolationError):
                self._main.close()

    @contextmanager
    def _reader(self) -> Iterator[apsw.Connection]:
        """Lend a reader; after an error it is closed."""
        if self._is_closed:
            raise apsw.ConnectionClosedError("it was closed")
        try:
            reader = self._idle.pop()
        except IndexError:
            reader = open_reader(self.path)
        is_reusable = not reader.open_flags & apsw.SQLITE_OPEN_URI  # an immutable file shows no later changes
        try:
            yield reader
        except Exception:
            is_reusable = False
            raise
        finally:
            if is_reusable and not self._is_closed and len(self._idle) < MOST_IDLE:
                self._idle.append(reader)
            else:
                reader.close()

    def _writer(self) -> apsw.Connection:
        if self.read_only:
            raise VaultReadOnly(self.path)
        return self._main
