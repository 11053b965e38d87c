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
        self.make_folder(str(PurePosixPath(path).parent))
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
        start = root.rstrip("/") + "/"
        files: list[SourceFile] = []
        unreadable, links = list[str](), list[str]()
        waiting = [""]
        while waiting:
            folder = waiting.pop()
            location = normpath(join(root, folder))
            if location in self._sealed:
                unreadable.append(folder)
                continue
            paths = {*self._files, *self._folders, *self._links}
            inside = [path for path in sorted(paths) if path != location and dirname(path) == location]
            for path in sorted(inside, key=lambda path: not basename(path).startswith(".")):
                relative = path.removeprefix(start)
                if path in self._links:
                    links.append(relative)
                elif path in self._folders:
                    waiting += [relative] if enter(relative) else []
                elif wanted(relative):
                    content, mtime_ns = self._files[path]
                    files.append(SourceFile(relative, SourceStamp(len(content), mtime_ns)))
        files.sort(key=lambda file: file.path)
        return Scan(tuple(files), True, tuple(sorted(unreadable)), links=tuple(sorted(links)))

    def read(self, root: str, path: str) -> bytes:
        target = normpath(join(root, path))
        if not PurePosixPath(target).is_relative_to(root):
            raise SourceUnreadable(path, f"it lies outside {root}")
        if target in self._links:
            raise SourceUnreadable(path, "it is a symbolic link")
        if target in self._folders:
            raise SourceUnreadable(path, "it is a folder")
        if target not in self._files:
            raise SourceMissing(path, "there is no such file")
        if target in self._sealed:
            raise SourceUnreadable(path, "it may not be read")
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
