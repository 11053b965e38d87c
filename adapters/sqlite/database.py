"""The one place that opens SQLite, decides how it waits, and says in our words what went wrong."""

from __future__ import annotations

import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any
from weakref import WeakSet

import apsw

from clawmem.ports.errors import (
    ClawmemError,
    InvalidInput,
    VaultDamaged,
    VaultError,
    VaultFull,
    VaultLocked,
    VaultReadOnly,
)

Row = tuple[Any, ...]
Bindings = Sequence[Any] | Mapping[str, Any]

BUSY_TIMEOUT_S = 10.0
MEMORY = ":memory:"
READER_CACHE_KB = (
    512  # of SQLite's own 2000: a server has dozens of readers, and the system caches the file as well
)

# sqlite-vec makes errors of its own of what SQLite told it, at best in the same words.
_FULL = re.compile("disk is full|Could not insert a new vector chunk")
_BROKEN = re.compile(
    "Internal sqlite-vec error|vectors blob read error|chunks iter error|Could not fetch vector"
)


_TENDED: Counter[str] = Counter()


class Database:
    """
    A writer connection, and a read-only one for every other thread that asks.

    Readers let two legs of one question run side by side (SQLite releases the interpreter while it works).
    Inside a transaction the thread that writes reads what it wrote.
    """

    _tends_log = True  # who is open for writing puts the log away when it closes

    def __init__(self, path: str, *, read_only: bool = False, vector_extension: bool = True) -> None:
        self.path = path
        self.read_only = read_only
        self._wants_vectors = vector_extension
        self._owner = threading.get_ident()
        self._readers = threading.local()
        self._opened: WeakSet[apsw.Connection] = WeakSet()  # a thread that ends takes its own along
        with self._translated():
            self._main = self._open(read_only)
        self._tends_log = self._tends_log and not read_only
        _TENDED[path] += self._tends_log

    # -- reading ------------------------------------------------------------------------------------

    def rows(self, sql: str, bindings: Bindings = ()) -> list[Row]:
        """All rows of a query."""
        with self._translated():
            return list(self._reader().execute(sql, bindings))

    def stream(self, sql: str, bindings: Bindings = ()) -> Iterator[Row]:
        """The rows of a query one by one, for results that should not all be in memory."""
        with self._translated():
            yield from self._reader().execute(sql, bindings)

    def row(self, sql: str, bindings: Bindings = ()) -> Row | None:
        """The first row of a query, or ``None``."""
        with self._translated():
            return next(iter(self._reader().execute(sql, bindings)), None)

    def value(self, sql: str, bindings: Bindings = ()) -> Any:
        """The first column of the first row, or ``None``."""
        row = self.row(sql, bindings)
        return row[0] if row else None

    # -- writing ------------------------------------------------------------------------------------

    def write(self, sql: str, bindings: Bindings = ()) -> list[Row]:
        """Run one statement on the writer, and give back what it returns."""
        with self._translated():
            return list(self._main.execute(sql, bindings))

    def write_many(self, sql: str, bindings: Iterable[Bindings]) -> None:
        """Run one statement for each of *bindings*."""
        with self._translated():
            self._main.executemany(sql, bindings)

    def changes(self) -> int:
        """How many rows the last statement changed."""
        return self._main.changes()

    @property
    def in_transaction(self) -> bool:
        """Whether the writer is inside one."""
        return self._main.in_transaction

    @contextmanager
    def atomic(self) -> Iterator[None]:
        """One write transaction, or part of the one that is open."""
        if self._main.in_transaction:
            yield
            return
        self.write("begin immediate")  # a deferred one that turns writer late cannot wait, only fail
        try:
            yield
            self.write("commit")
        except BaseException:
            # SQLite has rolled back by itself after some errors (a full disk among them).
            if self._main.in_transaction:
                self._main.execute("rollback")
            raise

    # -- life ---------------------------------------------------------------------------------------

    def write_ahead(self) -> None:
        """Let readers and a writer work side by side from now on; the file remembers it."""
        patient = _patience()
        for attempt in count():
            try:
                with self._translated():
                    self._main.pragma("journal_mode", "wal")
                return
            except VaultLocked:
                # When several make the same vault SQLite refuses all but one at once, whatever the handler.
                if not patient(attempt):
                    raise

    def vacuum(self) -> None:
        """
        Write the file anew without what was deleted, and empty the log.

        Raises:
            VaultLocked: somebody else is reading what was there before.
        """
        self.write("vacuum")
        if self.path != MEMORY and self.write("pragma wal_checkpoint(truncate)")[0][0]:
            raise VaultLocked(self.path)

    @cached_property
    def has_vectors(self) -> bool:
        """Whether the vector extension could be loaded."""
        return self._wants_vectors and _load_vectors(self._main)

    def close(self) -> None:
        """Close every connection; a second call does nothing. One that a thread is reading with ends with the thread."""
        for connection in list(self._opened):
            with suppress(apsw.ThreadingViolationError):  # of a leg or a model that nobody waits for any more
                connection.close()
        self._opened.clear()
        _TENDED[self.path] -= self._tends_log
        self._tends_log = False

    def _reader(self) -> apsw.Connection:
        if threading.get_ident() == self._owner or self.path == MEMORY:
            return self._main
        reader: apsw.Connection | None = getattr(self._readers, "connection", None)
        if reader is None:
            reader = self._readers.connection = self._open(read_only=True)
            if self.has_vectors:
                _load_vectors(reader)
        return reader

    def _open(self, read_only: bool) -> apsw.Connection:
        flags = (
            apsw.SQLITE_OPEN_READONLY if read_only else apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        )
        connection = apsw.Connection(self.path, flags=flags)
        self._opened.add(connection)
        # First the waiting, then everything that may have to wait.
        connection.set_busy_handler(_patience())
        connection.pragma("foreign_keys", True)
        if read_only:
            connection.pragma("cache_size", -READER_CACHE_KB)
        else:
            connection.pragma("synchronous", "full")
        return connection

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (apsw.Error, UnicodeError) as error:
            raise self._explain(error) from error

    def _explain(self, error: Exception) -> ClawmemError:
        if isinstance(error, UnicodeEncodeError):
            return InvalidInput("INVALID_INPUT", "The text holds half a character. Give it as valid Unicode.")
        if isinstance(error, apsw.BusyError | apsw.LockedError):
            return VaultLocked(self.path)
        if isinstance(error, apsw.FullError) or _FULL.search(str(error)):
            return VaultFull(self.path)
        if isinstance(error, apsw.ReadOnlyError | apsw.PermissionsError):
            return VaultReadOnly(self.path)
        if isinstance(error, apsw.CantOpenError):
            there = not self.read_only or _exists(self.path)
            return (
                VaultReadOnly(self.path)
                if there
                else VaultError(self.path, f"There is no vault at {self.path}.")
            )
        broken = isinstance(error, apsw.NotADBError | apsw.CorruptError | UnicodeDecodeError)
        if broken or _BROKEN.search(str(error)):
            return VaultDamaged(self.path, "it is not a SQLite database, or a broken one")
        return VaultError(
            self.path, f"{self.path} cannot be used: {error}. Look at it, or choose another --vault."
        )


def is_log_tended(path: str) -> bool:
    """Whether somebody in this process has the file open for writing, for longer than a note takes."""
    return _TENDED[path] > 0


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except OSError:  # a name that is too long, a folder that must not be entered
        return False


def _patience() -> Callable[[int], bool]:
    """Wait with jitter: SQLite's own back-off lets one of several writers starve for seconds."""
    since = 0.0

    def wait(attempts: int) -> bool:
        nonlocal since
        import random  # and with it OpenSSL: most never wait

        since = time.monotonic() if attempts == 0 else since
        if time.monotonic() - since > BUSY_TIMEOUT_S:
            return False
        time.sleep(random.uniform(0.0005, 0.004))
        return True

    return wait


def _load_vectors(connection: apsw.Connection) -> bool:
    """Load vec0 by its path; importing its Python package would import numpy for one helper of it."""
    from importlib.util import find_spec

    spec = find_spec("sqlite_vec")
    if spec is None or not spec.submodule_search_locations:
        return False
    try:
        connection.enable_load_extension(True)
        connection.load_extension(str(Path(spec.submodule_search_locations[0]) / "vec0"), "sqlite3_vec_init")
    except apsw.Error:
        return False
    finally:
        connection.enable_load_extension(False)
    return True
