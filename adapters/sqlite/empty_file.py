"""Check for an empty file at the path of a vault, which SQLite would silently turn into a new vault."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from stat import S_ISREG

from clawmem.ports.errors import VaultDamaged

# A vault that another process is creating is empty for some milliseconds.
_PATIENCE_S = 3.0
_POLL_S = 0.01


def is_empty(path: str) -> bool:
    """Whether the file at *path* has no bytes. SQLite must not open such a file, because it would delete the log."""
    return _changed_if_empty(path) is not None


def refuse_empty(path: str) -> None:
    """Raise `VaultDamaged` if the file at *path* is empty and stays empty."""
    since = time.monotonic()
    while (changed := _changed_if_empty(path)) is not None:
        if time.time() - changed > _PATIENCE_S or time.monotonic() - since > _PATIENCE_S:
            raise VaultDamaged(
                path,
                "the file is empty, so its pins, its diary and captured memories are lost unless you put a backup copy "
                "in its place",
                "Run: clawmem doctor --repair  (makes a new vault from your files.)",
            )
        time.sleep(_POLL_S)


def _changed_if_empty(path: str) -> float | None:
    """Return the modification time of the file at *path* in seconds since 1970; ``None`` unless it is an empty file."""
    with suppress(OSError, ValueError):
        found = os.stat(path)  # noqa: PTH116  avoids importing `pathlib` for every prompt
        if S_ISREG(found.st_mode) and found.st_size == 0:
            return found.st_mtime
    return None
