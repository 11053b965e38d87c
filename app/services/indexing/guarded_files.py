"""File source without credentials and without clawmem's own files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from clawmem.domain.security.folders import Restriction, restriction_inside
from clawmem.domain.security.key_material import key_material_in
from clawmem.ports.errors import SourceUnreadable
from clawmem.ports.files import FileSource
from clawmem.ports.records import Scan

_BESIDE = ("-wal", "-shm", "-journal")  # SQLite files next to a vault; those of clawmem begin with "."


class GuardedFiles:
    """
    ``FileSource`` that leaves out credential stores by name, key material by content, and clawmem's own files.

    ``skipped`` are sentences about the files and folders that were left out by name since the last scan began.

    Args:
        home: The home folder of the user.
        own: The files of clawmem itself: its vaults and its config file.
    """

    def __init__(self, files: FileSource, home: Path, own: Sequence[Path]) -> None:
        self._files = files
        self._home = str(home)
        self._own = own
        self.skipped: dict[str, str] = {}

    def scan(self, root: str, *, enter: Callable[[str], bool], wanted: Callable[[str], bool]) -> Scan:
        """See `clawmem.ports.files.FileSource.scan`."""

        def is_open(path: str) -> bool:
            why = restriction_inside(path, root, self._home) or is_own(Path(root, path), self._own)
            if why:
                self.skipped[path] = f"{path} was skipped: it {why}."
            return not why

        return self._files.scan(
            root,
            enter=lambda path: enter(path) and is_open(path),
            wanted=lambda path: wanted(path) and is_open(path),
        )

    def read(self, root: str, path: str) -> bytes:
        """See `clawmem.ports.files.FileSource.read`."""
        data = self._files.read(root, path)
        if kind := key_material_in(data):
            raise SourceUnreadable(path, f"it is {kind}")
        return data


def is_own(path: Path, own: Sequence[Path]) -> Restriction | None:
    """Return a restriction if *path* is one of the files *own*, a file derived from one, or below such a folder."""
    for file in own:
        for one in (path, *path.parents):
            if one.parent == file.parent and _is_named_like(one.name, file.name):
                return Restriction.OWN
        if file.parent.name == "clawmem" and path.is_relative_to(file.parent):
            return Restriction.OWN
    return None


def _is_named_like(name: str, own: str) -> bool:
    return name in (own, *(own + ending for ending in _BESIDE)) or name.startswith(f"{own}.")
