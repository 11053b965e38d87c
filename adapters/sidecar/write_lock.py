"""
One writer at a time, among threads and processes.

The lock is the operating system's and not the existence of a file: it goes with its process, however that
ends. ``flock`` belongs to an open file, so that two handles in one process exclude each other, too.
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
    Hold the lock at *path*; wait for it at most *patience_s* seconds.

    Raises:
        IndexBusy: somebody else held it all the time.
    """
    deadline = time.monotonic() + patience_s
    with path.open("ab") as file:
        while not _is_taken(file.fileno()):
            if time.monotonic() >= deadline:
                raise IndexBusy(str(path.parent))
            time.sleep(_PAUSE_S)
        yield  # closing the file gives the lock back


def _is_taken(descriptor: int) -> bool:
    with suppress(BlockingIOError, PermissionError):
        _try_lock(descriptor)
        return True
    return False
