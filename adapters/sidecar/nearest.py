"""
From all rows to the few nearest, by ever dearer comparisons.

1. Bits, when more rows are in scope than a product takes a few milliseconds for: of each segment that has codes the
   candidates with the fewest differing bits.
2. Products in single precision, over what is left.
3. Products in double precision, over the nearest of those: these are the scores, and equal rows have equal ones.
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

_ROWS_AT_ONCE = 8192  # 8 MB of 256 dimensions
_SPARSE = 0.25  # of a block's rows: fewer are gathered, more are compared with the others between them
_ROUNDING = 1e-5  # a product in single precision is not further off than this


@dataclass(frozen=True, slots=True)
class Reach:
    """Up to how many rows in scope all are compared, and how many candidates a segment gives beyond that."""

    exact_rows: int
    candidates: int


@dataclass(frozen=True, slots=True)
class _Part:
    """The rows of a segment that are still in the race, ascending; ``None`` stands for all of them."""

    segment: Segment
    rows: Rows | None

    @property
    def size(self) -> int:
        return self.segment.record.rows if self.rows is None else len(self.rows)


def nearest(
    segments: Sequence[Segment], question: Floats, limit: int, scope: Scope, reach: Reach
) -> list[Hit]:
    """The nearest rows in scope to *question* (dim,), unit length; by score descending, then key."""
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


def _in_scope(segment: Segment, scope: Scope) -> _Part:
    mask = segment.in_scope(scope)
    return _Part(segment, None if mask is None else np.flatnonzero(mask))


def _candidates(part: _Part, question: Floats, wanted: int) -> _Part:
    """Those with the fewest differing bits, and all that are as good as the last of them."""
    segment = part.segment
    if not segment.has_codes or part.size <= wanted:
        return part
    bits = differing_bits(segment.codes, encode(question[np.newaxis], segment.centre))
    if part.rows is not None:
        bits = bits[part.rows]
    within = np.flatnonzero(bits <= np.partition(bits, wanted - 1)[wanted - 1])
    return _Part(segment, within if part.rows is None else part.rows[within])


def _products(part: _Part, question: Floats) -> Floats:
    """The cosine of each row, in single precision: (n,)."""
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
    """What a product must reach for its row to be among the nearest, rounding granted."""
    if len(products) <= limit:
        return -np.inf
    return float(np.partition(products, -limit)[-limit]) - 2 * _ROUNDING


def _scored(part: _Part, places: Rows, question: Floats) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    rows = places if part.rows is None else part.rows[places]
    exact = question.astype(np.float64)
    scores = np.empty(len(rows), dtype=np.float64)
    for block in _blocks(len(rows)):  # a sum along the row: its value does not depend on the row's place
        scores[block] = (part.segment.vectors[rows[block]] * exact).sum(axis=1)
    return part.segment.keys[rows], np.clip(scores, -1, 1)


def _blocks(rows: int) -> list[slice]:
    return [slice(first, first + _ROWS_AT_ONCE) for first in range(0, rows, _ROWS_AT_ONCE)]
