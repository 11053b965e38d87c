"""The user's files while he works on them."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from clawmem.adapters.files.disk import DiskFiles
from clawmem.ports.errors import SourceUnreadable
from clawmem.ports.records import Scan, SourceStamp

QUIET_NS = 300_000_000  # a file that was written to within it may not be all there yet


class LiveFiles(DiskFiles):
    """
    ``FileSource`` that is careful about moments in between.

    A file that is still being written is unreadable for now. An empty folder in the place of another one is
    taken for the place where that was mounted: nothing of the collection is there, but nothing was deleted.
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
    return 0 <= now_ns - stamp.mtime_ns < QUIET_NS  # what is of tomorrow says nothing of today


def identity(root: str) -> tuple[int, int] | None:
    """What tells a folder from another one in its place; ``None`` when it is not there."""
    try:
        found = Path(root).stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
