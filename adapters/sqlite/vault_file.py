"""The file of a vault and its write-ahead log, examined without opening a database."""

import os
import time
from contextlib import suppress
from stat import S_ISREG

import apsw

from clawmem.ports.errors import VaultDamaged

CHECKPOINT_WAIT_MS = 50  # no other process can write during the checkpoint, so the wait is short
# A vault that another process is creating is empty for some milliseconds.
_PATIENCE_S = 3.0
_POLL_S = 0.01


def log_is_empty(path: str) -> bool:
    """Whether the write-ahead log of the vault at *path* is empty or does not exist."""
    try:
        return os.stat(f"{path}-wal").st_size == 0  # noqa: PTH116  avoids importing `pathlib` for every prompt
    except FileNotFoundError:
        return True


def is_empty(path: str) -> bool:
    """Whether the file at *path* has no bytes. SQLite must not open such a file, because it would delete the log."""
    with suppress(OSError, ValueError):
        status = os.stat(path)  # noqa: PTH116  avoids importing `pathlib` for every prompt
        return S_ISREG(status.st_mode) and status.st_size == 0
    return False


def is_text(path: str) -> bool:
    """Whether the file at *path* has no NUL byte, which every database has."""
    with open(path, "rb") as file:  # noqa: PTH123
        return not any(b"\0" in part for part in iter(lambda: file.read(65_536), b""))


def refuse_empty(path: str) -> None:
    """Raise `VaultDamaged` if the file at *path* is empty and stays empty."""
    since = time.monotonic()
    while is_empty(path):
        age = time.time() - os.path.getmtime(path)  # noqa: PTH204
        if max(age, time.monotonic() - since) > _PATIENCE_S:
            raise VaultDamaged(
                path,
                "the file is empty, so its pins, its diary and captured memories are lost unless you put a backup copy "
                "in its place",
                "Run: clawmem doctor --repair  (makes a new vault from your files.)",
            )
        time.sleep(_POLL_S)


def checkpoint_log(path: str) -> None:
    """
    Write the log into the vault at *path* and truncate it, unless the vault stays locked for 50 ms.

    The last connection that closes does the same. But on its own SQLite only reuses the log at its full
    length, and a server that runs for weeks closes no connection.
    """
    with suppress(apsw.Error, OSError):  # locked, full or deleted: the log stays, and no data is lost
        if log_is_empty(path) or is_empty(path):
            return
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            connection.set_busy_timeout(CHECKPOINT_WAIT_MS)
            connection.execute("pragma wal_checkpoint(truncate)").fetchall()
        finally:
            connection.close()
