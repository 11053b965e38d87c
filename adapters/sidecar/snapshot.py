from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from clawmem.adapters.sidecar.array_file import ArrayFile
from clawmem.adapters.sidecar.folder import Folder
from clawmem.adapters.sidecar.manifest import FileRecord, Manifest, read_manifest
from clawmem.ports.errors import IndexDamaged

if TYPE_CHECKING:
    from clawmem.adapters.sidecar.segment import Segment


class Snapshot:
    """
    An index as one commit left it, with all of its files mapped: later commits do not change it.

    Made without numpy, which only who looks at numbers has to import.
    """

    def __init__(self, folder: Folder, stored: bytes, known: Mapping[str, ArrayFile]) -> None:
        """
        Args:
            stored: The manifest.
            known: Files that are mapped already, by name.

        Raises:
            FileNotFoundError: a file is gone, perhaps by a later commit.
            IndexDamaged: a file is not what was written.
        """
        self.stored = stored
        try:
            self.manifest: Manifest = read_manifest(stored)
            self.files = {
                record.name: known.get(record.name) or mapped(folder, record)
                for record in self.manifest.files()
            }
            for segment in self.manifest.segments:
                _check_shape(self.files[segment.file.name], segment.rows, self.manifest.dimensions)
        except ValueError as error:
            raise IndexDamaged(folder.path, str(error)) from error

    @cached_property
    def segments(self) -> list[Segment]:
        """To be read."""
        return self.own_segments()

    def own_segments(self) -> list[Segment]:
        """The same for somebody who writes over what is live."""
        from clawmem.adapters.sidecar.segment import Segment

        return [
            Segment(
                record,
                self.files[record.file.name],
                self.files[record.deletions.name] if record.deletions else None,
            )
            for record in self.manifest.segments
        ]


# Files that this process has compared with their checksums. None is changed after it was written, so once is enough.
_SOUND: set[tuple[object, ...]] = set()
_MOST_SOUND = 10_000


def mapped(folder: Folder, record: FileRecord) -> ArrayFile:
    """
    Return the arrays of a file, compared with its checksum; 0.7 ms of CPU for each megabyte, once in a process.

    Raises:
        ValueError: it is not as it was written.
    """
    with folder.open(record) as file:
        arrays = ArrayFile(file)
        found = os.fstat(file.fileno())
    key = (folder.path, record, found.st_ino, found.st_mtime_ns)
    if key not in _SOUND:
        if arrays.checksum() != record.checksum:
            raise ValueError(f"{record.name} is not as it was written")
        if len(_SOUND) >= _MOST_SOUND:
            _SOUND.clear()
        _SOUND.add(key)
    return arrays


def _check_shape(arrays: ArrayFile, rows: int, dimensions: int) -> None:
    if "vectors" not in arrays or arrays.shape("vectors") != (rows, dimensions):
        raise ValueError(f"a segment does not hold {rows} vectors of {dimensions} dimensions")
