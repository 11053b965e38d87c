from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePosixPath
from posixpath import dirname, join, normpath

from clawmem.ports.errors import SourceUnreadable
from clawmem.ports.records import Scan, SourceFile, SourceStamp


class MemoryFiles:
    """
    Reference ``FileSource`` over a dictionary of absolute POSIX paths.

    Links are stored by name only: they are never reported and never read.
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
        folders = list(self._walk(root, "", enter))
        listed = {folder for folder in folders if _absolute(root, folder) not in self._sealed}
        inside = [path for path in self._below(root, self._files) if dirname(path) in listed]
        return Scan(
            files=tuple(self._found(root, path) for path in inside if wanted(path)),
            unreadable=tuple(sorted(set(folders) - listed)),
        )

    def read(self, root: str, path: str) -> bytes:
        target = _absolute(root, path)
        if not PurePosixPath(target).is_relative_to(root):
            raise SourceUnreadable(path, f"it lies outside {root}")
        if target in self._links:
            raise SourceUnreadable(path, "it is a symbolic link")
        if target not in self._files:
            raise SourceUnreadable(path, "there is no such file")
        if target in self._sealed:
            raise SourceUnreadable(path, "it may not be read")
        return self._files[target][0]

    def _walk(self, root: str, folder: str, enter: Callable[[str], bool]) -> Iterator[str]:
        """Iterate over *folder* and the folders below it that may be entered."""
        yield folder
        if _absolute(root, folder) in self._sealed:
            return
        for child in self._below(root, self._folders):
            if dirname(child) == folder and enter(child):
                yield from self._walk(root, child, enter)

    def _below(self, root: str, paths: Iterable[str]) -> list[str]:
        """Return those of the absolute *paths* that are below the root, relative to it, sorted."""
        beginning = root.rstrip("/") + "/"
        return sorted(path.removeprefix(beginning) for path in paths if path.startswith(beginning))

    def _found(self, root: str, path: str) -> SourceFile:
        content, mtime_ns = self._files[_absolute(root, path)]
        return SourceFile(path, SourceStamp(len(content), mtime_ns))


def _absolute(root: str, path: str) -> str:
    return normpath(join(root, path))
