"""Assignment of paths to collections, for nested folders."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from clawmem.domain.documents.eligibility import compile_pattern, is_excluded

if TYPE_CHECKING:
    from clawmem.app.services.indexing.folders import Folder


class _Owned(NamedTuple):
    name: str
    root: str
    wants: Callable[[str], bool]


class Ownership:
    """
    Assigns a file to the innermost of nested folders that matches it; for identical folders, to the first.

    Raises:
        InvalidInput: a pattern that expands to too many.
    """

    def __init__(self, folders: Iterable[Folder]) -> None:
        owned = [_Owned(one.name, root_of(one), compile_pattern(one.pattern)) for one in folders]
        self._owned = sorted(owned, key=lambda one: len(PurePath(one.root).parts), reverse=True)

    def owner(self, path: str) -> str | None:
        """Return the collection that owns the absolute POSIX *path*; ``None`` if there is none."""
        around = self._around(path)
        return next((one.name for one, way in around if one.wants(way) and not is_excluded(way)), None)

    def concerned(self, path: str) -> list[str]:
        """Return the collections, innermost first, that may have files below a folder."""
        return [one.name for one, way in self._around(path) if not is_excluded(way)]

    def _around(self, path: str) -> Iterator[tuple[_Owned, str]]:
        for one in self._owned:
            way = _below(path, one.root)
            if way is not None:
                yield one, way


def nested(folders: Sequence[Folder]) -> list[Folder]:
    """Return *folders*, each with its nested folders, which own the files they match."""
    return [
        replace(one, inside=tuple(other for other in folders if _goes_before(other, one, folders)))
        for one in folders
    ]


def root_of(folder: Folder) -> str:
    """Return the root of *folder* with slashes on every system, without one at the end."""
    return PurePath(folder.root).as_posix().rstrip("/")


def _goes_before(other: Folder, one: Folder, folders: Sequence[Folder]) -> bool:
    below = _below(root_of(other), root_of(one))
    return below is not None and (below != _ITSELF or folders.index(other) < folders.index(one))


def _below(path: str, root: str) -> str | None:
    if path == root:
        return _ITSELF
    return path[len(root) + 1 :] if path.startswith(f"{root}/") else None


_ITSELF = "."
