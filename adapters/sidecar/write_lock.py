"""
Write lock that excludes threads and processes.

It is a lock of the operating system instead of a lock file, so it ends with its process in any case.
``flock`` belongs to an open file, so two handles in one process also exclude each other.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from clawmem.ports.errors import IndexBusy

_PAUSE_S = 0.005

if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _try_lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def locked(path: Path, patience_s: float) -> Iterator[None]:
    """
    Hold the lock at *path* for the block; wait for it at most *patience_s* seconds.

    Raises:
        IndexBusy: another holder kept it all the time.
    """
    deadline = time.monotonic() + patience_s
    with path.open("ab") as file:
        while not _is_taken(file.fileno()):
            if time.monotonic() >= deadline:
                raise IndexBusy(str(path.parent))
            time.sleep(_PAUSE_S)
        yield  # closing the file releases the lock


def _is_taken(descriptor: int) -> bool:
    with suppress(BlockingIOError, PermissionError):
        _try_lock(descriptor)
        return True
    return False
