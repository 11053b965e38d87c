"""
Best-effort writer with a 5 ms busy timeout. Opens its own connection, so it also works from a read-only
vault, and truncates the write-ahead log when it closes.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager

import apsw

from clawmem.adapters.sqlite.connections import log_is_empty
from clawmem.adapters.sqlite.database import MEMORY, Database, file_identity, is_open_for_writing

BUSY_TIMEOUT_MS = 5  # a query does not wait to record itself


@contextmanager
def best_effort_writer(db: Database) -> Iterator[Database]:
    """
    Open a separate best-effort writer to the vault of *db* for the block.

    Raises:
        VaultLocked, VaultReadOnly, VaultFull, VaultError: the vault cannot be written, or is locked.
    """
    if db.path == MEMORY:  # a database in memory has no second connection
        yield db
        return
    if shared := _SHARED_WRITERS.get(db.path):
        with shared.taken() as writer:
            yield writer
        return
    log_was_empty = log_is_empty(db.path)
    with closing(_BestEffortWriter(db.path)) as writer:
        yield writer
        # A vault opened read-only cannot checkpoint the log when it closes. A leftover log would corrupt a
        # backup that is later copied over the file.
        if db.read_only and log_was_empty and not is_open_for_writing(db.path):
            writer.write("pragma wal_checkpoint(truncate)")


@contextmanager
def shared_writer(path: str) -> Iterator[None]:
    """
    Keep one best-effort writer to the vault at *path* open for the block, for all threads of this process.

    Opening a writer and checkpointing the log costs more than the write itself. With a shared writer the
    writes stay in the log, and the caller checkpoints it
    (`clawmem.adapters.sqlite.checkpoint.checkpoint_log`).
    """
    shared = _SHARED_WRITERS[path] = _SharedWriter(path)
    try:
        yield
    finally:
        del _SHARED_WRITERS[path]
        shared.close()


class _SharedWriter:
    """A best-effort writer for all threads, one at a time; SQLite would serialize them anyway."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._turn = threading.Lock()
        self._open: tuple[tuple[int, ...], _BestEffortWriter] | None = None

    @contextmanager
    def taken(self) -> Iterator[Database]:
        """Lend the writer to the file that is at the path now. After an error the next call opens a new writer."""
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
        if self._open and self._open[0] == file_identity(self._path):
            return self._open[1]
        self._let_go()
        writer = _BestEffortWriter(self._path)
        self._open = file_identity(self._path), writer
        return writer

    def _let_go(self) -> None:
        if self._open:
            self._open[1].close()
        self._open = None


_SHARED_WRITERS: dict[str, _SharedWriter] = {}


class _BestEffortWriter(Database):
    _checkpoints_log = False

    def _open(self) -> apsw.Connection:
        # Does not create the file, so a vault that was deleted stays deleted.
        connection = apsw.Connection(self.path, flags=apsw.SQLITE_OPEN_READWRITE)
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        connection.pragma("foreign_keys", True)
        # In write-ahead mode this can lose only the last transactions before a power failure.
        connection.pragma("synchronous", "normal")
        return connection
