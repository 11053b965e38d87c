"""Opening and discarding of the indexes that the registry lists."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from shutil import rmtree
from typing import cast

from clawmem.ports.errors import ConfigError, IndexUnavailable
from clawmem.ports.indexes import Backend, DerivedIndex, IndexPlace
from clawmem.ports.records import IndexRecord, Role

PRIVATE_FOLDER = 0o700
OWN = "sqlite"  # engine name of the vault's own index, which is inside the vault file


_FOLDER = f"({'|'.join(Role)})-[0-9]+"


class Engines:
    """
    Factory that opens and discards the external indexes of one vault.

    Args:
        named: Returns a backend by its name; raises `ConfigError` if it does not exist.
        folder: Folder for the indexes of this vault.
        read_only: Whether indexes are opened for reading only.
        options: Engine options from the config file; read lazily by the engines.
    """

    def __init__(
        self,
        named: Callable[[str], Backend],
        folder: str,
        *,
        read_only: bool = False,
        options: Mapping[str, str] | None = None,
    ) -> None:
        self._named = named
        self._folder = folder
        self._read_only = read_only
        self._options = {} if options is None else options

    def engine_for(self, role: Role, backend: str) -> str | None:
        """Return the engine that *backend* uses for *role*; ``None`` if the vault's own index is used."""
        found = self._named(backend)
        return found.name if _opener(found, role) else None

    def open(self, record: IndexRecord) -> DerivedIndex:
        """
        Open and return the index of *record*.

        Raises:
            IndexDamaged, IndexUnavailable, ExtraMissing: See `clawmem.ports.errors`.
            ConfigError: The backend does not support an index for this role.
        """
        opener = _opener(self._named(record.engine), record.role)
        if opener is None:
            raise ConfigError(f"The backend {record.engine!r} keeps no {record.role} index any more.")
        index = opener(self._place(record))
        self._make_private()
        return index

    def discard(self, record: IndexRecord) -> None:
        """Delete an index permanently; a file at the path of its folder is moved aside."""
        if record.engine == OWN:
            return
        place = self._place(record)
        for path in (self._folder, place.folder):
            _move_file_aside(path)
        self._named(record.engine).discard(place)

    def beside(self) -> list[Path]:
        """Return the index folders next to the vault."""
        return [path for path in Path(self._folder).glob("*-*") if re.fullmatch(_FOLDER, path.name)]

    def discard_others(self, folders: Iterable[Path], known: Iterable[IndexRecord]) -> None:
        """Delete the *folders* that belong to no index in *known*."""
        names = {_name(record) for record in known}
        for folder in folders:
            if folder.name not in names:
                rmtree(folder, ignore_errors=True)

    def size_bytes(self) -> int:
        """Return the disk space of the indexes next to the vault; indexes stored elsewhere are not counted."""
        return sum(map(_size, Path(self._folder).rglob("*")))

    def _make_private(self) -> None:
        """Restrict the index folder to its owner; engines create the folder with permissions of their choice."""
        if not self._read_only:
            with suppress(OSError):  # indexes in an object store have no folder
                os.chmod(self._folder, PRIVATE_FOLDER)  # noqa: PTH101  most vaults need no pathlib

    def _place(self, record: IndexRecord) -> IndexPlace:
        name = _name(record)
        return IndexPlace(
            folder=f"{self._folder}/{name}",
            name=f"{record.since.vault}-{name}",
            read_only=self._read_only,
            options=self._options,
        )


def _move_file_aside(path: str) -> None:
    """Rename a file at *path*, where a folder belongs; it may be unrelated, so it is not deleted."""
    if os.path.isfile(path):  # noqa: PTH113  most vaults need no pathlib
        try:
            os.replace(path, f"{path}.moved-aside")  # noqa: PTH105
        except OSError as error:
            raise IndexUnavailable(path, f"a file is in the way ({error.strerror})") from error


def _name(record: IndexRecord) -> str:
    return f"{record.role}-{record.generation}"


def _opener(backend: Backend, role: Role) -> Callable[[IndexPlace], DerivedIndex] | None:
    opener = backend.lexical if role is Role.LEXICAL else backend.vectors
    return cast("Callable[[IndexPlace], DerivedIndex] | None", opener)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size if path.is_file() else 0
    except OSError:  # another process may just have merged or replaced the file
        return 0
