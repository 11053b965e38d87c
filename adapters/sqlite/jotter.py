"""Writing what may be lost: it waits for nobody, also works where the vault is only read, and leaves no log behind."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager

import apsw

from clawmem.adapters.sqlite.connections import log_is_empty
from clawmem.adapters.sqlite.database import MEMORY, Database, is_log_tended, which_file

BUSY_TIMEOUT_MS = 5  # a question is not kept waiting for its own diary


@contextmanager
def jotting(db: Database) -> Iterator[Database]:
    """
    A writer of its own into the vault of *db*, for the length of a block.

    Raises:
        VaultLocked, VaultReadOnly, VaultFull, VaultError: it cannot be written, or not at once.
    """
    if db.path == MEMORY:  # has no other connection
        yield db
        return
    if standing := _STANDING.get(db.path):
        with standing.taken() as writer:
            yield writer
        return
    log_was_empty = log_is_empty(db.path)
    with closing(_Jotter(db.path)) as writer:
        yield writer
        # A vault opened for reading cannot put the log away when it closes. What lay beside the file would
        # spoil a backup that somebody copies back over it.
        if db.read_only and log_was_empty and not is_log_tended(db.path):
            writer.write("pragma wal_checkpoint(truncate)")


@contextmanager
def standing_writer(path: str) -> Iterator[None]:
    """
    Keep one writer for whatever this process jots into the vault at *path*, for the length of a block.

    Opening one, and putting the log away after it, costs more than the note: with a standing writer notes stay in
    the log, and who asks for one also sees to it (`clawmem.adapters.sqlite.log.put_log_away`).
    """
    standing = _STANDING[path] = _Standing(path)
    try:
        yield
    finally:
        del _STANDING[path]
        standing.close()


class _Standing:
    """A jotter for all threads, one after the other, as SQLite would have them wait anyway."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._turn = threading.Lock()
        self._open: tuple[tuple[int, ...], _Jotter] | None = None

    @contextmanager
    def taken(self) -> Iterator[Database]:
        """The jotter into the file that lies there now; after anything went wrong the next is another one."""
        with self._turn:
            try:
                yield self._current()
            except BaseException:
                self._let_go()
                raise

    def close(self) -> None:
        with self._turn:
            self._let_go()

    def _current(self) -> Database:
        if self._open and self._open[0] == which_file(self._path):
            return self._open[1]
        self._let_go()
        writer = _Jotter(self._path)
        self._open = which_file(self._path), writer
        return writer

    def _let_go(self) -> None:
        if self._open:
            self._open[1].close()
        self._open = None


_STANDING: dict[str, _Standing] = {}


class _Jotter(Database):
    _tends_log = False

    def _open(self) -> apsw.Connection:
        # Not created: a vault that was deleted in the meantime stays deleted.
        connection = apsw.Connection(self.path, flags=apsw.SQLITE_OPEN_READWRITE)
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        connection.pragma("foreign_keys", True)
        # In write-ahead mode safe for everything but the last transactions before a power failure.
        connection.pragma("synchronous", "normal")
        return connection
