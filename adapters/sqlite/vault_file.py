"""The file of a vault and its write-ahead log, examined without opening a database."""

import os
from contextlib import suppress
from stat import S_ISREG

import apsw

from clawmem.ports.errors import NotAVault, VaultDamaged

CHECKPOINT_WAIT_MS = 50  # no other process can write during the checkpoint, so the wait is short
_HEADER = b"SQLite format 3\0"


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


def refuse_special(path: str) -> None:
    """Raise `NotAVault` for a folder, or what would block or swallow everything, such as a FIFO or device."""
    if os.path.exists(path) and not os.path.isfile(path):  # noqa: PTH110, PTH113
        kind = "a folder" if os.path.isdir(path) else "no regular file"  # noqa: PTH112
        raise NotAVault(path, f"it is {kind}, and a vault is a file")


def kind_of_stranger(path: str) -> str:
    """Return what the file at *path*, which SQLite cannot read, is; empty if its bytes or neighbours show a vault."""
    if any(os.path.exists(f"{path}{ending}") for ending in (".forgotten", ".indexes", "-wal")):  # noqa: PTH110
        return ""
    is_binary = False
    with open(path, "rb") as file:  # noqa: PTH123
        for part in iter(lambda: file.read(1 << 20), b""):
            if part.startswith(_HEADER) or b"references documents (id)" in part:  # of most tables
                return ""
            is_binary |= b"\0" in part
    return "it is not a SQLite database" if is_binary else "it is a text file"


def refuse_empty(path: str) -> None:
    """Raise `VaultDamaged` if the file at *path* is empty."""
    if is_empty(path):
        raise VaultDamaged(
            path,
            "the file is empty, so its pins, its diary and captured memories are lost unless you put a backup copy "
            "in its place",
            "Run: clawmem doctor --repair  (makes a new vault from your files.)",
        )


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
