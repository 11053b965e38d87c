"""Files without a byte in the place of a vault: SQLite would make a new vault of them without a word."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from stat import S_ISREG

from clawmem.ports.errors import VaultDamaged

# A file that another process is just making is empty for some milliseconds.
_PATIENCE_S = 3.0
_POLL_S = 0.01


def is_empty(path: str) -> bool:
    """Whether the file at *path* has no bytes. SQLite must not open such a file: it deletes the log of it."""
    return _changed_if_empty(path) is not None


def refuse_empty(path: str) -> None:
    """Raise `VaultDamaged` if the file at *path* is and stays empty."""
    since = time.monotonic()
    while (changed := _changed_if_empty(path)) is not None:
        if time.time() - changed > _PATIENCE_S or time.monotonic() - since > _PATIENCE_S:
            raise VaultDamaged(
                path,
                "the file is empty, so its pins, its diary and captured memories are lost unless you put a backup copy "
                "in its place",
                "Run: clawmem repair  (makes a new vault from your files.)",
            )
        time.sleep(_POLL_S)


def _changed_if_empty(path: str) -> float | None:
    """Return when the file at *path* was changed, in seconds since 1970; ``None`` unless it is an empty file."""
    with suppress(OSError, ValueError):
        found = os.stat(path)  # noqa: PTH116  a prompt would load `pathlib` for it
        if S_ISREG(found.st_mode) and found.st_size == 0:
            return found.st_mtime
    return None
