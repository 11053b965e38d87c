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
    An index as of one commit, with all its files mapped; later commits do not change it.

    Created without numpy, which is imported only to access numbers.
    """

    def __init__(self, folder: Folder, stored: bytes, known: Mapping[str, ArrayFile]) -> None:
        """
        Map the files of a commit.

        Args:
            stored: The manifest.
            known: Files that are already mapped, by name.

        Raises:
            FileNotFoundError: a file is missing; a later commit may have deleted it.
            IndexDamaged: a file differs from its record.
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
        """Segments for reading."""
        return self.own_segments()

    def own_segments(self) -> list[Segment]:
        """Return separate segments for a draft, which changes their masks."""
        from clawmem.adapters.sidecar.segment import Segment

        return [
            Segment(
                record,
                self.files[record.file.name],
                self.files[record.deletions.name] if record.deletions else None,
            )
            for record in self.manifest.segments
        ]


# Files whose checksums this process has verified. Files never change after writing, so once is enough.
_SOUND: set[tuple[object, ...]] = set()
_MOST_SOUND = 10_000


def mapped(folder: Folder, record: FileRecord) -> ArrayFile:
    """
    Return the arrays of a file after verifying its checksum; 0.7 ms of CPU per megabyte, once per process.

    Raises:
        ValueError: the checksum differs.
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
