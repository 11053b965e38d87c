"""Files of the user that may change while they are read."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from clawmem.adapters.files.disk import DiskFiles
from clawmem.ports.errors import SourceUnreadable
from clawmem.ports.records import Scan, SourceStamp

QUIET_NS = 300_000_000  # a file changed within this time may be incomplete


class LiveFiles(DiskFiles):
    """
    ``FileSource`` that tolerates intermediate states of files and folders.

    A file that is still being written counts as unreadable. An empty folder that has replaced another one
    counts as an unmounted mount point: the root is reported as missing, so nothing counts as deleted.
    """

    def __init__(self) -> None:
        super().__init__()
        self._seen: dict[str, tuple[int, int]] = {}
        self._young: set[tuple[str, str]] = set()

    def scan(self, root: str, *, enter: Callable[[str], bool], wanted: Callable[[str], bool]) -> Scan:
        here = identity(root)
        scan = super().scan(root, enter=enter, wanted=wanted)
        if here is None or not scan.root_exists:
            return scan
        if self._seen.get(root, here) != here and not any(Path(root).iterdir()):
            return Scan((), root_exists=False)
        self._seen[root] = here
        now_ns = time.time_ns()
        self._young = {(root, file.path) for file in scan.files if _is_young(file.stamp, now_ns)}
        return scan

    def read(self, root: str, path: str) -> bytes:
        if (root, path) in self._young:
            raise SourceUnreadable(path, "it is being written")
        return super().read(root, path)


def _is_young(stamp: SourceStamp, now_ns: int) -> bool:
    return 0 <= now_ns - stamp.mtime_ns < QUIET_NS  # a time in the future says nothing


def identity(root: str) -> tuple[int, int] | None:
    """
    Return the device and inode of a folder, which differ from those of a replacement; ``None`` if it does not
    exist.
    """
    try:
        found = Path(root).stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
