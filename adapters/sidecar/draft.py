from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from clawmem.adapters.sidecar.array_file import Column, chunks
from clawmem.adapters.sidecar.codes import encode, words_of
from clawmem.adapters.sidecar.folder import DELETIONS, SEGMENT, Folder
from clawmem.adapters.sidecar.manifest import Manifest, SegmentRecord
from clawmem.adapters.sidecar.packed_keys import pack
from clawmem.adapters.sidecar.segment import Segment
from clawmem.adapters.sidecar.snapshot import Snapshot, mapped
from clawmem.adapters.sidecar.text_column import TextColumn
from clawmem.adapters.sidecar.unit_vectors import check_vectors, unit_rows
from clawmem.ports.records import Marker, VectorEntry

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Take = Callable[[NDArray[np.int64]], Floats]

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


# a smaller segment has no codes, because comparing all its vectors takes less than a millisecond
CODED_ROWS = 8192
_ROWS_AT_ONCE = 8192
_SAMPLE = 16_384  # rows that are enough to estimate the centre


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows with ``keys`` (n,) ascending, collections and times; ``take`` returns the vectors of some rows, (m, dim)."""

    keys: NDArray[np.int64]
    collections: TextColumn
    times: TextColumn
    take: Take
    dimensions: int


def rows_of_entries(entries: Sequence[VectorEntry]) -> Rows:
    """Return the rows of entries with different keys; their vectors are normalized."""
    ordered = sorted(entries, key=lambda entry: entry.key)
    vectors = unit_rows([entry.vector for entry in ordered])
    return Rows(
        keys=np.array([pack(entry.key) for entry in ordered], dtype=np.int64),
        collections=TextColumn.of(entry.collection for entry in ordered),
        times=TextColumn.of(entry.authored_at for entry in ordered),
        take=lambda rows: vectors[rows],
        dimensions=vectors.shape[1],
    )


def rows_of_segments(segments: Sequence[Segment]) -> Rows:
    """Return the live rows of several segments, sorted by key."""
    kept = [np.flatnonzero(segment.live) for segment in segments]
    keys = np.concatenate([segment.keys[rows] for segment, rows in zip(segments, kept, strict=True)])
    order = np.argsort(keys)
    source = np.repeat(np.arange(len(segments)), [len(rows) for rows in kept])[order]
    row = np.concatenate(kept)[order]
    collections = [segment.collections[rows] for segment, rows in zip(segments, kept, strict=True)]
    times = [segment.times[rows] for segment, rows in zip(segments, kept, strict=True)]
    dimensions = segments[0].vectors.shape[1]

    def take(rows: NDArray[np.int64]) -> Floats:
        taken = np.empty((len(rows), dimensions), dtype=np.float32)
        for number, segment in enumerate(segments):
            mine = source[rows] == number
            taken[mine] = segment.vectors[row[rows[mine]]]
        return taken

    return Rows(
        keys[order], TextColumn.joined(collections)[order], TextColumn.joined(times)[order], take, dimensions
    )


def write_rows(folder: Folder, rows: Rows) -> SegmentRecord:
    """Write *rows* as a segment, which is on disk when this returns."""
    columns = _columns(rows) if len(rows.keys) < CODED_ROWS else _columns_with_codes(rows)
    return SegmentRecord(folder.write(SEGMENT, chunks(columns)), rows=len(rows.keys))


def _columns(rows: Rows) -> list[Column]:
    n = len(rows.keys)
    collections, times = rows.collections, rows.times
    return [
        Column("keys", "<i8", (n,), [rows.keys]),
        Column("collections", collections.values.dtype.str, collections.values.shape, [collections.values]),
        Column("collection_ranks", "<i4", (n,), [collections.ranks]),
        Column("times", times.values.dtype.str, times.values.shape, [times.values]),
        Column("time_ranks", "<i4", (n,), [times.ranks]),
        Column("vectors", "<f4", (n, rows.dimensions), _blocks(rows)),
    ]


def _columns_with_codes(rows: Rows) -> list[Column]:
    """Return the columns with codes, which are computed while the vectors are written."""
    n = len(rows.keys)
    centre = rows.take(np.arange(0, n, max(1, n // _SAMPLE))).mean(axis=0)
    codes = np.empty((words_of(rows.dimensions), n), dtype=np.uint64)

    def encoded() -> Iterator[Floats]:
        for number, block in enumerate(_blocks(rows)):
            first = number * _ROWS_AT_ONCE
            codes[:, first : first + len(block)] = encode(block, centre)
            yield block

    *others, vectors = _columns(rows)
    return [
        *others,
        vectors._replace(blocks=encoded()),
        Column("centre", "<f4", centre.shape, [centre]),
        Column("codes", "<u8", codes.shape, codes),
    ]


def _blocks(rows: Rows) -> Iterator[Floats]:
    for first in range(0, len(rows.keys), _ROWS_AT_ONCE):
        yield rows.take(np.arange(first, min(first + _ROWS_AT_ONCE, len(rows.keys))))
