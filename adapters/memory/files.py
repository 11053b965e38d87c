from __future__ import annotations

from collections.abc import Callable, Iterable
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
        found: list[str] = []
        unreadable: list[str] = []
        links: list[str] = []
        waiting = [""]
        while waiting:
            folder = waiting.pop()
            if _absolute(root, folder) in self._sealed:
                unreadable.append(folder)
                continue
            links += [path for path in self._below(root, self._links) if dirname(path) == folder]
            for path, is_folder in self._entries(root, folder):
                if is_folder:
                    waiting += [path] if enter(path) else []
                elif wanted(path):
                    found.append(path)
        files = tuple(self._found(root, path) for path in sorted(found))
        return Scan(files, True, tuple(sorted(unreadable)), links=tuple(sorted(links)))

    def read(self, root: str, path: str) -> bytes:
        target = _absolute(root, path)
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
        found: list[tuple[str, bytes]] = []
        for folder in map(str, (PurePosixPath(root), *PurePosixPath(root).parents)):
            if folder != root:
                with suppress(SourceUnreadable):
                    found.append((folder, self.read(folder, path)))
            if _absolute(folder, up_to) in {*self._folders, *self._files}:
                return found
        return []

    def _entries(self, root: str, folder: str) -> list[tuple[str, bool]]:
        """Return the files and folders in *folder*, whether they are folders, and names with a dot first."""
        listed = [(path, False) for path in self._below(root, self._files)]
        listed += [(path, True) for path in self._below(root, self._folders)]
        inside = [(path, is_folder) for path, is_folder in listed if dirname(path) == folder]
        return sorted(inside, key=lambda one: not basename(one[0]).startswith("."))

    def _below(self, root: str, paths: Iterable[str]) -> list[str]:
        """Return those of the absolute *paths* that are below the root, relative to it, sorted."""
        beginning = root.rstrip("/") + "/"
        return sorted(path.removeprefix(beginning) for path in paths if path.startswith(beginning))

    def _found(self, root: str, path: str) -> SourceFile:
        content, mtime_ns = self._files[_absolute(root, path)]
        return SourceFile(path, SourceStamp(len(content), mtime_ns))


def _absolute(root: str, path: str) -> str:
    return normpath(join(root, path))
