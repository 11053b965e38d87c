"""Writing what may be lost: it waits for nobody, also works where the vault is only read, and leaves no log behind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import apsw

from clawmem.adapters.sqlite.database import MEMORY, Database, is_log_tended

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
    log_was_empty = log_is_empty(db.path)
    with closing(_Jotter(db.path)) as writer:
        yield writer
        # A vault opened for reading cannot put the log away when it closes. What lay beside the file would
        # spoil a backup that somebody copies back over it.
        if db.read_only and log_was_empty and not is_log_tended(db.path):
            writer.write("pragma wal_checkpoint(truncate)")


class _Jotter(Database):
    _tends_log = False

    def _open(self, read_only: bool) -> apsw.Connection:
        # Not created: a vault that was deleted in the meantime stays deleted.
        connection = apsw.Connection(self.path, flags=apsw.SQLITE_OPEN_READWRITE)
        self._opened.add(connection)
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        connection.pragma("foreign_keys", True)
        # In write-ahead mode safe for everything but the last transactions before a power failure.
        connection.pragma("synchronous", "normal")
        return connection


def log_is_empty(path: str) -> bool:
    """Whether the vault at *path* has nothing in its log, or no log at all."""
    log = Path(f"{path}-wal")
    return not log.exists() or log.stat().st_size == 0
