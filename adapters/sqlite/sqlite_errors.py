"""Translation of the errors of SQLite, FTS5 and sqlite-vec."""

import os
from contextlib import AbstractContextManager, suppress
from types import TracebackType

import apsw

from clawmem.adapters.sqlite.vault_file import kind_of_stranger, log_is_empty
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

# FTS5 and sqlite-vec raise errors of their own for errors of SQLite, at best with the same text.
_FULL = ("disk is full", "Could not insert a new vector chunk")
_BROKEN = ("invalid fts5 file format", "vtable constructor failed")
_REFUSED = (apsw.SQLITE_IOERR_WRITE, apsw.SQLITE_IOERR_FSYNC, apsw.SQLITE_IOERR_TRUNCATE)
_NO_SHARED_MEMORY = (apsw.SQLITE_IOERR_SHMOPEN, apsw.SQLITE_IOERR_SHMSIZE)
_LARGEST = 2**63 - 1  # the largest integer that SQLite stores


def invalid_record() -> VaultDamaged:
    """Return the error for a record with an invalid value."""
    return VaultDamaged("The vault", "one of its records has an invalid value")


class ExplainedErrors(AbstractContextManager[object]):
    """Raises errors of clawmem for errors of SQLite in a block; a generator would take as long as a short statement."""

    def __init__(self, path: str, *, read_only: bool) -> None:
        self._path = path
        self._read_only = read_only

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, apsw.Error | UnicodeError | OverflowError):
            raise _explained(error, self._path, read_only=self._read_only) from error


def _explained(error: Exception, path: str, *, read_only: bool) -> ClawmemError:
    message = str(error)
    if isinstance(error, UnicodeEncodeError):
        return InvalidInput("INVALID_INPUT", "The text holds half a character. Give it as valid Unicode.")
    if isinstance(error, OverflowError):
        return InvalidInput("OUT_OF_BOUNDS", f"A number is larger than {_LARGEST}. Give a smaller one.")
    if getattr(error, "extendedresult", 0) == apsw.SQLITE_CONSTRAINT_FOREIGNKEY:
        return InvalidInput("INVALID_INPUT", "It refers to no existing document. Nothing was stored.")
    if getattr(error, "extendedresult", 0) in (apsw.SQLITE_CONSTRAINT_CHECK, apsw.SQLITE_CONSTRAINT_NOTNULL):
        return InvalidInput("OUT_OF_BOUNDS", f"A value is not allowed: {message}. Nothing was stored.")
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return VaultLocked(path)
    if refused := write_refusal(error, path):
        return refused
    if isinstance(error, apsw.ReadOnlyError | apsw.PermissionsError):
        return VaultReadOnly(path)
    if isinstance(error, apsw.CantOpenError):
        return _unopened(path, read_only=read_only)
    is_corrupt = isinstance(error, apsw.NotADBError | apsw.CorruptError | UnicodeDecodeError)
    if is_corrupt or any(words in message for words in _BROKEN):
        with suppress(OSError):
            if kind := kind_of_stranger(path):
                return NotAVault(path, kind)
        return VaultDamaged(path, "it is not a SQLite database, or a broken one")
    return VaultError(path, f"{path} cannot be used: {error}. Look at it, or choose another --vault.")


def write_refusal(error: Exception, path: str) -> VaultError | None:
    """Return the error of clawmem for a write to *path* that the system refused; ``None`` for any other *error*."""
    is_full = isinstance(error, apsw.FullError) or any(words in str(error) for words in _FULL)
    if is_full or _is_disk_full(error, path):
        return VaultFull(path)
    if isinstance(error, apsw.IOError) and getattr(error, "extendedresult", 0) in _REFUSED:
        reason = "the system refused it. Check the disk, its quota and the limit for files (ulimit -f), then repeat."
        return VaultError(path, f"{path} cannot be written: {reason}")
    return None


def _unopened(path: str, *, read_only: bool) -> VaultError:
    if not os.path.exists(path):  # noqa: PTH110
        return VaultError(path, f"There is no vault at {path}.") if read_only else VaultReadOnly(path)
    if not os.access(path, os.R_OK, effective_ids=os.access in os.supports_effective_ids):
        return VaultError(path, f"{path} cannot be read. Check its permissions, or run this as its owner.")
    if read_only and not log_is_empty(path):
        reason = f"its last changes are in {path}-wal, which SQLite reads only in a folder that it may write"
        remedy = "Let its owner run: clawmem status  (or copy both files to a folder of your own.)"
        return VaultError(path, f"{path} cannot be read: {reason}. {remedy}")
    return VaultReadOnly(path)


def _is_disk_full(error: Exception, path: str) -> bool:
    """Whether *error* comes from a full disk. For the shared-memory file, SQLite reports a generic I/O error."""
    if not isinstance(error, apsw.IOError | apsw.CantOpenError) or os.name == "nt":
        return False
    if getattr(error, "extendedresult", 0) in _NO_SHARED_MEMORY:
        return True
    with suppress(OSError):
        disk = os.statvfs(os.path.dirname(path) or ".")  # noqa: PTH120
        return disk.f_bavail == 0 and disk.f_blocks > 0
    return False
