from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from clawmem.ports.records import Marker

_FORMAT = "clawmem-sidecar"
_VERSION = 1


@dataclass(frozen=True, slots=True)
class FileRecord:
    """A file that never changes: a unique name, its size and CRC-32."""

    name: str
    size: int
    checksum: int


@dataclass(frozen=True, slots=True)
class SegmentRecord:
    """A file of rows, and the file that marks deleted rows; None if no row is deleted."""

    file: FileRecord
    rows: int
    deleted: int = 0
    deletions: FileRecord | None = None

    @property
    def live(self) -> int:
        """Number of rows that are not deleted."""
        return self.rows - self.deleted


@dataclass(frozen=True, slots=True)
class Manifest:
    """
    Complete description of an index after one commit.

    ``dimensions`` is 0 until there is a vector.
    """

    dimensions: int = 0
    marker: Marker | None = None
    segments: tuple[SegmentRecord, ...] = ()

    @property
    def count(self) -> int:
        """Number of vectors."""
        return sum(segment.live for segment in self.segments)

    def files(self) -> Iterator[FileRecord]:
        """Iterate over all files of the index."""
        for segment in self.segments:
            yield segment.file
            if segment.deletions:
                yield segment.deletions

    def to_bytes(self) -> bytes:
        """Return the stored form."""
        head = {"format": _FORMAT, "version": _VERSION}
        marker = self.marker._asdict() if self.marker else None
        said = head | asdict(self) | {"marker": marker}
        return json.dumps(said | {"checksum": _checksum(said)}).encode()


def read_manifest(stored: bytes) -> Manifest:
    """
    Parse the result of `Manifest.to_bytes`.

    Raises:
        ValueError: *stored* is no manifest, or has another version.
    """
    try:
        fields = json.loads(stored)
        if (fields["format"], fields["version"]) != (_FORMAT, _VERSION):
            raise ValueError(f"its format is {fields['format']} {fields['version']}")
        # Manifests of earlier releases have no checksum.
        if fields.pop("checksum", None) not in (None, _checksum(fields)):
            raise ValueError("its manifest is not as it was written")
        marker = fields["marker"]
        return Manifest(
            dimensions=int(fields["dimensions"]),
            marker=Marker(**marker) if marker else None,
            segments=tuple(map(_segment, fields["segments"])),
        )
    except (KeyError, TypeError, AttributeError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError("its manifest cannot be read") from error


def _checksum(fields: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(fields, sort_keys=True).encode())


def _segment(fields: dict[str, Any]) -> SegmentRecord:
    deletions = fields["deletions"]
    return SegmentRecord(
        file=FileRecord(**fields["file"]),
        rows=int(fields["rows"]),
        deleted=int(fields["deleted"]),
        deletions=FileRecord(**deletions) if deletions else None,
    )
