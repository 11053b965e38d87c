"""Checkpoint of the write-ahead log, which holds the most recent writes until they reach the vault's file."""

from __future__ import annotations

from contextlib import suppress

import apsw

from clawmem.adapters.sqlite.connections import log_is_empty
from clawmem.adapters.sqlite.empty_file import is_empty

WAIT_MS = 50  # no other process can write during the checkpoint, so the wait is short


def checkpoint_log(path: str) -> None:
    """
    Write the log into the vault at *path* and truncate it, unless the vault stays locked for longer than
    `WAIT_MS`.

    The last connection that closes does the same. But on its own SQLite only reuses the log at its full
    length, and a server that runs for weeks closes no connection.
    """
    with suppress(apsw.Error, OSError):  # locked, full or deleted: the log stays, and no data is lost
        if log_is_empty(path) or is_empty(path):
            return
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            connection.set_busy_timeout(WAIT_MS)
            list(connection.execute("pragma wal_checkpoint(truncate)"))
        finally:
            connection.close()
