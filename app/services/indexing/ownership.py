"""Which collection a path belongs to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import PurePath
from typing import NamedTuple

from clawmem.app.services.indexing.update import Folder
from clawmem.domain.documents.eligibility import compile_pattern, is_excluded


class _Owned(NamedTuple):
    name: str
    root: PurePath
    wants: Callable[[str], bool]


class Ownership:
    """
    Of folders that lie in one another the innermost that wants a file has it.

    Raises:
        InvalidInput: a pattern that stands for too many.
    """

    def __init__(self, folders: Iterable[Folder]) -> None:
        owned = [_Owned(one.name, PurePath(one.root), compile_pattern(one.pattern)) for one in folders]
        self._owned = sorted(owned, key=lambda one: len(one.root.parts), reverse=True)

    def owner(self, path: str, *, folder: bool) -> str | None:
        """
        The collection that *path*, absolute, belongs to; ``None`` for what nobody reads.

        Args:
            folder: Whether it is a folder: any that is not excluded may hold files of the collection.
        """
        for one in self._owned:
            inside = _below(path, one.root)
            if inside is not None and not is_excluded(inside) and (folder or one.wants(inside)):
                return one.name
        return None


def _below(path: str, root: PurePath) -> str | None:
    try:
        return PurePath(path).relative_to(root).as_posix()
    except ValueError:
        return None
