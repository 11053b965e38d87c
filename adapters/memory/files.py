from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import PurePosixPath
from posixpath import basename, dirname, join, normpath

from clawmem.ports.errors import SourceMissing, SourceUnreadable
from clawmem.ports.records import Scan, SourceFile, SourceStamp


class MemoryFiles:
    """
    Reference ``FileSource`` over a dictionary of absolute POSIX paths.

    Links are stored by name only: they are named in a scan and never read.
    """

    def __init__(self) -> None:
        self._files: dict[str, tuple[bytes, int]] = {}
        self._folders: set[str] = {"/"}
        self._sealed: set[str] = set()
        self._links: set[str] = set()

    def write(self, path: str, content: bytes, *, mtime_ns: int = 1) -> None:
        """Write a file at an absolute path, and create its parent folders."""
        self.make_folder(dirname(path))
        self._files[path] = (content, mtime_ns)

    def make_folder(self, path: str) -> None:
        """Create an empty folder at an absolute path, with its parents."""
        self._folders |= {path, *map(str, PurePosixPath(path).parents)}

    def remove(self, path: str) -> None:
        """Delete a file."""
        del self._files[path]

    def link(self, path: str) -> None:
        """Create a symbolic link at an absolute path."""
        self._links.add(path)

    def seal(self, path: str) -> None:
        """Remove the permission to read a file or to list a folder."""
        self._sealed.add(path)

    def scan(self, root: str, *, enter: Callable[[str], bool], wanted: Callable[[str], bool]) -> Scan:
        if root not in self._folders:
            return Scan(files=(), root_exists=False)
        files: list[SourceFile] = []
        unreadable, links, waiting = list[str](), list[str](), [root]
        while waiting:
            folder = waiting.pop()
            if folder in self._sealed:
                unreadable.append(folder[len(root) :].strip("/"))
                continue
            paths = {*self._files, *self._folders, *self._links}
            children = sorted(path for path in paths if dirname(path) == folder != path)
            for path in sorted(children, key=lambda path: not basename(path).startswith(".")):
                relative = path[len(root) :].strip("/")
                if path in self._links:
                    links.append(relative)
                elif path in self._folders:
                    waiting += [path] if enter(relative) else []
                elif wanted(relative):
                    content, mtime_ns = self._files[path]
                    files.append(SourceFile(relative, SourceStamp(len(content), mtime_ns)))
        files.sort(key=lambda file: file.path)
        return Scan(tuple(files), True, tuple(sorted(unreadable)), links=tuple(sorted(links)))

    def read(self, root: str, path: str) -> bytes:
        target = normpath(join(root, path))
        faults = {
            f"it lies outside {root}": not PurePosixPath(target).is_relative_to(root),
            "it is a symbolic link": target in self._links,
            "it is a folder": target in self._folders,
            "it may not be read": target in self._sealed,
        }
        for reason, is_true in faults.items():
            if is_true:
                raise SourceUnreadable(path, reason)
        if target not in self._files:
            raise SourceMissing(path, "there is no such file")
        return self._files[target][0]

    def read_above(self, root: str, path: str, *, up_to: str) -> list[tuple[str, bytes]]:
        contents: list[tuple[str, bytes]] = []
        for folder in map(str, (PurePosixPath(root), *PurePosixPath(root).parents)):
            if folder != root:
                with suppress(SourceUnreadable):
                    contents.append((folder, self.read(folder, path)))
            if normpath(join(folder, up_to)) in {*self._folders, *self._files}:
                return contents
        return []
