"""Write lock that excludes threads and processes, and ends with its process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from clawmem.ports.errors import IndexBusy

_PAUSE_S = 0.005


@contextmanager
def locked(path: Path, patience_s: float) -> Iterator[None]:
    """
    Hold the lock at *path* for the block; wait for it at most *patience_s* seconds.

    Raises:
        IndexBusy: another holder kept it all the time.
    """
    lock = FileLock(path, timeout=patience_s, poll_interval=_PAUSE_S, is_singleton=False)
    try:
        lock.acquire()
    except Timeout as error:
        raise IndexBusy(str(path.parent)) from error
    try:
        yield
    finally:
        lock.release()
