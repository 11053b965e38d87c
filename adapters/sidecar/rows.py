"""Rows of a new segment, from new entries or from several segments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from clawmem.adapters.sidecar.array_file import Column, chunks
from clawmem.adapters.sidecar.codes import encode, words_of
from clawmem.adapters.sidecar.folder import SEGMENT, Folder
from clawmem.adapters.sidecar.manifest import SegmentRecord
from clawmem.adapters.sidecar.packed_keys import pack
from clawmem.adapters.sidecar.segment import Segment
from clawmem.adapters.sidecar.text_column import TextColumn
from clawmem.adapters.sidecar.unit_vectors import unit_rows
from clawmem.ports.records import VectorEntry

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Take = Callable[[NDArray[np.int64]], Floats]

# a smaller segment has no codes, because comparing all its vectors takes less than a millisecond
CODED_ROWS = 8192
_ROWS_AT_ONCE = 8192
_SAMPLE = 16_384  # rows that are enough to estimate the centre


@dataclass(frozen=True, slots=True)
class Rows:
    """
    Rows with ``keys`` (n,) ascending, collections and times; ``take`` returns the vectors of some rows, (m,
    dim).
    """

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
