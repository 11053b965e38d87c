"""Files of a collection in memory, for tests that need no disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath

from clawmem.ports.errors import SourceMissing
from clawmem.ports.records import Scan, SourceFile, SourceStamp


class FileTree:
    """``FileSource`` over a dictionary of absolute POSIX paths, without links."""

    def __init__(self) -> None:
        self._files: dict[str, tuple[bytes, int]] = {}

    def write(self, path: str, content: bytes, *, mtime_ns: int = 1) -> None:
        self._files[path] = (content, mtime_ns)

    def scan(self, root: str, *, enter: Callable[[str], bool], wanted: Callable[[str], bool]) -> Scan:
        files = []
        for path, (content, mtime_ns) in sorted(self._files.items()):
            relative = PurePosixPath(path.removeprefix(f"{root}/"))
            folders = [str(folder) for folder in reversed(relative.parents) if folder.name]
            if path.startswith(f"{root}/") and all(map(enter, folders)) and wanted(str(relative)):
                files.append(SourceFile(str(relative), SourceStamp(len(content), mtime_ns)))
        return Scan(tuple(files))

    def read(self, root: str, path: str) -> bytes:
        if f"{root}/{path}" not in self._files:
            raise SourceMissing(path, "there is no such file")
        return self._files[f"{root}/{path}"][0]
