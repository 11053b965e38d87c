"""Rows that become a segment: those of new entries, or of several segments together."""

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
from clawmem.adapters.sidecar.ranked import Ranked
from clawmem.adapters.sidecar.segment import Segment
from clawmem.adapters.sidecar.unit_vectors import unit_rows
from clawmem.ports.records import VectorEntry

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Take = Callable[[NDArray[np.int64]], Floats]

CODED_ROWS = 8192  # a segment of fewer is compared number by number: that takes less than a millisecond
_ROWS_AT_ONCE = 8192
_SAMPLE = 16_384  # rows that say well enough where the centre lies


@dataclass(frozen=True, slots=True)
class Rows:
    """``keys`` (n,) ascending, and of each a collection and a time; ``take`` gives the vectors of some, (m, dim)."""

    keys: NDArray[np.int64]
    collections: Ranked
    times: Ranked
    take: Take
    dimensions: int


def rows_of_entries(entries: Sequence[VectorEntry]) -> Rows:
    """The rows of entries with different keys; their vectors are brought to unit length."""
    ordered = sorted(entries, key=lambda entry: entry.key)
    vectors = unit_rows([entry.vector for entry in ordered])
    return Rows(
        keys=np.array([pack(entry.key) for entry in ordered], dtype=np.int64),
        collections=Ranked.of(entry.collection for entry in ordered),
        times=Ranked.of(entry.authored_at for entry in ordered),
        take=lambda rows: vectors[rows],
        dimensions=vectors.shape[1],
    )


def rows_of_segments(segments: Sequence[Segment]) -> Rows:
    """The live rows of several segments."""
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

    return Rows(keys[order], Ranked.joined(collections)[order], Ranked.joined(times)[order], take, dimensions)


def write_rows(folder: Folder, rows: Rows) -> SegmentRecord:
    """A segment of *rows*, on the disk when this returns."""
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
    """The vectors pass by once: their codes are gathered while they are written."""
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
