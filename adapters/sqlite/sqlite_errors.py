"""Translation of the errors of SQLite and FTS5."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress

import apsw

from clawmem.adapters.sqlite.connections import log_is_empty
from clawmem.ports.errors import (
    ClawmemError,
    InvalidInput,
    NotAVault,
    VaultDamaged,
    VaultError,
    VaultFull,
    VaultLocked,
    VaultReadOnly,
)

# FTS5 raises errors of its own for errors of SQLite, at best with the same text.
_FULL = ("disk is full",)
_BROKEN = ("invalid fts5 file format",)
_SCHEMA_BROKEN = ("vtable constructor failed",)

_REFUSED = (apsw.SQLITE_IOERR_WRITE, apsw.SQLITE_IOERR_FSYNC, apsw.SQLITE_IOERR_TRUNCATE)

_HEADER = b"SQLite format 3\0"
_LARGEST = 2**63 - 1  # the largest integer that SQLite stores

_EFFECTIVE = os.access in os.supports_effective_ids


class VirtualTableDamaged(VaultDamaged):
    """FTS5 cannot read its own shadow tables."""


def explained(error: Exception, path: str, *, read_only: bool) -> ClawmemError:
    """Return the error of clawmem for an error of SQLite on the file at *path*."""
    if isinstance(error, UnicodeEncodeError):
        return InvalidInput("INVALID_INPUT", "The text holds half a character. Give it as valid Unicode.")
    if isinstance(error, OverflowError):
        return InvalidInput("OUT_OF_BOUNDS", f"A number is larger than {_LARGEST}. Give a smaller one.")
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return VaultLocked(path)
    if refused := write_refusal(error, path):
        return refused
    if isinstance(error, apsw.ReadOnlyError | apsw.PermissionsError):
        return VaultReadOnly(path)
    if isinstance(error, apsw.CantOpenError):
        return _unopened(path, read_only=read_only)
    if getattr(error, "extendedresult", 0) == apsw.SQLITE_CORRUPT_VTAB or _says(error, _BROKEN):
        return VirtualTableDamaged(path, "one of its virtual tables is broken")
    corrupt = isinstance(error, apsw.NotADBError | apsw.CorruptError | UnicodeDecodeError)
    broken = corrupt or _says(error, _SCHEMA_BROKEN)
    if broken and _is_other_file(path):
        was_one = "If it was a vault before, it is damaged. Run: clawmem doctor --repair"
        return NotAVault(path, "it is not a SQLite database", was_one)
    if broken:
        return VaultDamaged(path, "it is not a SQLite database, or a broken one")
    return VaultError(path, f"{path} cannot be used: {error}. Look at it, or choose another --vault.")


def write_refusal(error: Exception, path: str) -> VaultError | None:
    """Return the error of clawmem for a write to *path* that the system refused; ``None`` for any other *error*."""
    if isinstance(error, apsw.FullError) or _says(error, _FULL) or _is_disk_full(error, path):
        return VaultFull(path)
    if isinstance(error, apsw.IOError) and getattr(error, "extendedresult", 0) in _REFUSED:
        why = "the system refused it. Check the disk, its quota and the limit for files (ulimit -f), then repeat."
        return VaultError(path, f"{path} cannot be written: {why}")
    return None


def _unopened(path: str, *, read_only: bool) -> VaultError:
    """Return why SQLite cannot open the file."""
    if not _exists(path):
        missing = VaultError(path, f"There is no vault at {path}.")
        return missing if read_only else VaultReadOnly(path)
    if not os.access(path, os.R_OK, effective_ids=_EFFECTIVE):
        return VaultError(path, f"{path} cannot be read. Run this as its owner.")
    if read_only and not log_is_empty(path):
        reason = f"its last changes are in {path}-wal, which SQLite reads only in a folder that it may write"
        remedy = "Let its owner run: clawmem status  (or copy both files to a folder of your own.)"
        return VaultError(path, f"{path} cannot be read: {reason}. {remedy}")
    return VaultReadOnly(path)


def _says(error: Exception, words: Iterable[str]) -> bool:
    said = str(error)
    return any(one in said for one in words)


def _is_disk_full(error: Exception, path: str) -> bool:
    """Whether *error* comes from a full disk. For the shared-memory file, SQLite reports a generic I/O error."""
    if not isinstance(error, apsw.IOError | apsw.CantOpenError) or os.name == "nt":
        return False
    if getattr(error, "extendedresult", 0) in (apsw.SQLITE_IOERR_SHMOPEN, apsw.SQLITE_IOERR_SHMSIZE):
        return True
    with suppress(OSError):
        found = os.statvfs(os.path.dirname(path) or ".")  # noqa: PTH120
        return found.f_bavail == 0 and found.f_blocks > 0
    return False


def _is_other_file(path: str) -> bool:
    """Whether the file at *path* does not begin with the header of a SQLite database."""
    with suppress(OSError), open(path, "rb") as file:  # noqa: PTH123
        return file.read(len(_HEADER)) != _HEADER
    return False


def _exists(path: str) -> bool:
    return os.path.exists(path)  # noqa: PTH110
