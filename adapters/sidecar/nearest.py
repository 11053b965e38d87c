"""
Search for the nearest vectors by increasingly expensive comparisons.

1. Hamming distance of bit codes, if more rows are in scope than can be multiplied in a few milliseconds: in
   each segment with codes, the rows with the fewest differing bits become candidates.
2. Products in single precision, over the candidates.
3. Products in double precision, over the nearest of those: these are the scores, and equal rows have equal
   scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from clawmem.adapters.sidecar.codes import differing_bits, encode
from clawmem.adapters.sidecar.packed_keys import unpack
from clawmem.adapters.sidecar.segment import Segment
from clawmem.ports.records import Hit, Scope

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Rows = NDArray[np.int64]

_ROWS_AT_ONCE = 8192  # 8 MB at 256 dimensions
# share of the rows of a block; below it the rows are gathered, above it the whole block is multiplied
_SPARSE = 0.25
_ROUNDING = 1e-5  # upper bound of the error of a product in single precision


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """Search limits: number of rows in scope that are all compared, and of candidates per segment above that number."""

    exact_rows: int
    candidates: int


@dataclass(frozen=True, slots=True)
class _SegmentRows:
    """The remaining candidates of a segment in ascending order; ``None`` means all rows."""

    segment: Segment
    rows: Rows | None

    @property
    def size(self) -> int:
        return self.segment.record.rows if self.rows is None else len(self.rows)


def nearest(
    segments: Sequence[Segment], question: Floats, limit: int, scope: Scope, reach: SearchLimits
) -> list[Hit]:
    """Return the *limit* nearest rows in scope to *question* (dim,), unit length, by descending score, then key."""
    parts = [_in_scope(segment, scope) for segment in segments]
    if sum(part.size for part in parts) > reach.exact_rows:
        parts = [_candidates(part, question, reach.candidates) for part in parts]
    scored = [(part, _products(part, question)) for part in parts if part.size]
    if not scored:
        return []
    bar = _bar(np.concatenate([products for _, products in scored]), limit)
    found = [_scored(part, np.flatnonzero(products >= bar), question) for part, products in scored]
    keys, scores = (np.concatenate(column) for column in zip(*found, strict=True))
    best = np.lexsort((keys, -scores))[:limit]
    return [Hit(unpack(int(keys[n])), float(scores[n])) for n in best]


def _in_scope(segment: Segment, scope: Scope) -> _SegmentRows:
    mask = segment.in_scope(scope)
    return _SegmentRows(segment, None if mask is None else np.flatnonzero(mask))


def _candidates(part: _SegmentRows, question: Floats, wanted: int) -> _SegmentRows:
    """Select the rows with the fewest differing bits, including all ties at the limit."""
    segment = part.segment
    if not segment.has_codes or part.size <= wanted:
        return part
    bits = differing_bits(segment.codes, encode(question[np.newaxis], segment.centre))
    if part.rows is not None:
        bits = bits[part.rows]
    within = np.flatnonzero(bits <= np.partition(bits, wanted - 1)[wanted - 1])
    return _SegmentRows(segment, within if part.rows is None else part.rows[within])


def _products(part: _SegmentRows, question: Floats) -> Floats:
    """Return the cosine of each row in single precision: (n,)."""
    vectors, rows = part.segment.vectors, part.rows
    if rows is None:
        return np.concatenate([vectors[block] @ question for block in _blocks(len(vectors))])
    blocks = _blocks(len(vectors))
    edges = np.searchsorted(rows, [*(block.start for block in blocks), len(vectors)])
    return np.concatenate(
        [
            _products_within(vectors, block, rows[first:end], question)
            for block, (first, end) in zip(blocks, pairwise(edges), strict=True)
            if first < end
        ]
    )


def _products_within(vectors: Floats, block: slice, rows: Rows, question: Floats) -> Floats:
    if len(rows) < _SPARSE * _ROWS_AT_ONCE:
        return np.asarray(vectors[rows] @ question)
    return np.asarray((vectors[block] @ question)[rows - block.start])


def _bar(products: Floats, limit: int) -> float:
    """Return the minimum product of a row that can be among the nearest, allowing for rounding."""
    if len(products) <= limit:
        return -np.inf
    return float(np.partition(products, -limit)[-limit]) - 2 * _ROUNDING


def _scored(
    part: _SegmentRows, places: Rows, question: Floats
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    rows = places if part.rows is None else part.rows[places]
    exact = question.astype(np.float64)
    scores = np.empty(len(rows), dtype=np.float64)
    # a sum along the row, so that its value does not depend on the position of the row
    for block in _blocks(len(rows)):
        scores[block] = (part.segment.vectors[rows[block]] * exact).sum(axis=1)
    return part.segment.keys[rows], np.clip(scores, -1, 1)


def _blocks(rows: int) -> list[slice]:
    return [slice(first, first + _ROWS_AT_ONCE) for first in range(0, rows, _ROWS_AT_ONCE)]
