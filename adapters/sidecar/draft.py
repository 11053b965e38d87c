from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from clawmem.adapters.sidecar.array_file import Column, chunks
from clawmem.adapters.sidecar.folder import DELETIONS, Folder
from clawmem.adapters.sidecar.manifest import Manifest, SegmentRecord
from clawmem.adapters.sidecar.packed_keys import pack
from clawmem.adapters.sidecar.rows import Rows, rows_of_entries, rows_of_segments, write_rows
from clawmem.adapters.sidecar.segment import Segment
from clawmem.adapters.sidecar.snapshot import Snapshot, mapped
from clawmem.adapters.sidecar.unit_vectors import check_vectors
from clawmem.ports.records import Marker, VectorEntry

# number of segments of one size that merge into one of the next size; each row is written about log8(rows)
# times
_FAN = 8
_SMALLEST = 1024
_MOST_DELETED = 0.25


class Draft:
    """
    The next commit while it is prepared.

    Deletions are marked at once in masks of the draft; new entries stay in memory until `finish`.
    """

    def __init__(self, folder: Folder, base: Snapshot) -> None:
        self._folder = folder
        self._segments = base.own_segments()
        self._dimensions = base.manifest.dimensions
        self._marker = base.manifest.marker
        self._added: dict[int, dict[int, VectorEntry]] = {}  # by document, then fragment

    def put(self, entries: Sequence[VectorEntry]) -> None:
        """Add entries, replacing those with the same keys. If one is invalid, none is added."""
        dimensions = 0 if self._is_empty() else self._dimensions
        self._dimensions = check_vectors([entry.vector for entry in entries], dimensions)
        keys = np.array([pack(entry.key) for entry in entries], dtype=np.int64)
        for segment in self._segments:
            segment.live[segment.rows_with(keys)] = False
        for entry in entries:
            self._added.setdefault(entry.key.document_id, {})[entry.key.seq] = entry

    def remove(self, document_id: int) -> None:
        """Delete a document."""
        self._added.pop(document_id, None)
        for segment in self._segments:
            segment.live[segment.rows_of(document_id)] = False

    def clear(self) -> None:
        """Delete everything, including the marker."""
        self._segments, self._added, self._marker = [], {}, None

    def merge_all(self) -> None:
        """Merge everything into one segment without deleted rows."""
        if len(self._segments) > 1 or any(segment.record.deleted for segment in self._segments):
            self._segments = [self._written(rows_of_segments(self._segments))]

    def finish(self, marker: Marker | None) -> Manifest:
        """Write all files of the commit, with *marker* or the previous one, and return its manifest."""
        self._count()
        added = [entry for fragments in self._added.values() for entry in fragments.values()]
        if added:
            self._segments.append(self._written(rows_of_entries(added)))
        while due := due_for_merging([segment.record for segment in self._segments]):
            self._merge(due)
        return Manifest(
            dimensions=self._dimensions if self._segments else 0,
            marker=marker or self._marker,
            segments=tuple(self._with_deletions(segment) for segment in self._segments),
        )

    def _is_empty(self) -> bool:
        return not self._added and not any(segment.live.any() for segment in self._segments)

    def _count(self) -> None:
        """Update the records of the segments with the deletions, and drop empty segments."""
        for segment in self._segments:
            deleted = segment.record.rows - int(np.count_nonzero(segment.live))
            if deleted != segment.record.deleted:
                segment.record = replace(segment.record, deleted=deleted, deletions=None)
        self._segments = [segment for segment in self._segments if segment.record.live]

    def _merge(self, places: Sequence[int]) -> None:
        merged = self._written(rows_of_segments([self._segments[place] for place in places]))
        others = [segment for place, segment in enumerate(self._segments) if place not in places]
        self._segments = [*others, merged]

    def _written(self, rows: Rows) -> Segment:
        record = write_rows(self._folder, rows)
        return Segment(record, mapped(self._folder, record.file), None)

    def _with_deletions(self, segment: Segment) -> SegmentRecord:
        record = segment.record
        if not record.deleted or record.deletions:
            return record
        bits = np.packbits(~segment.live)
        column = Column("deleted", "|u1", bits.shape, [bits])
        return replace(record, deletions=self._folder.write(DELETIONS, chunks([column])))


def due_for_merging(segments: Sequence[SegmentRecord]) -> list[int]:
    """Return the positions of segments to merge now; none if no merge is due."""
    for place, segment in enumerate(segments):
        if segment.deleted > _MOST_DELETED * segment.rows:
            return [place]
    by_size = defaultdict(list)
    for place, segment in enumerate(segments):
        by_size[_size_class(segment.live)].append(place)
    return next((places for _, places in sorted(by_size.items()) if len(places) >= _FAN), [])


def _size_class(rows: int) -> int:
    size_class = 0
    while rows > _SMALLEST:
        rows //= _FAN
        size_class += 1
    return size_class
