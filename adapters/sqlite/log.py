"""The log beside a vault's file: what was written last, and is in the file itself only later."""

from __future__ import annotations

from contextlib import suppress

import apsw

from clawmem.adapters.sqlite.connections import log_is_empty
from clawmem.adapters.sqlite.empty_file import is_empty

WAIT_MS = 50  # for who reads: so long nobody else can write


def put_log_away(path: str) -> None:
    """
    Write the log into the vault at *path* and empty it, unless somebody is at it for longer than a moment.

    Who closes a vault last does the same. But SQLite alone only begins the log again, as long as it once was, and a
    server that lives for weeks closes nothing.
    """
    with suppress(apsw.Error, OSError):  # locked, full, gone: the log stays, and is as good as the file
        if log_is_empty(path) or is_empty(path):
            return
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            connection.set_busy_timeout(WAIT_MS)
            list(connection.execute("pragma wal_checkpoint(truncate)"))
        finally:
            connection.close()
