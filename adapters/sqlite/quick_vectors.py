"""Vectors that a process keeps in a quarter of their size, to tell which few are worth a comparison in full."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from clawmem.ports.records import Vector

    Floats = npt.NDArray[np.float32]

_STEPS = 127
_ROWS_AT_ONCE = 512  # half a megabyte of 256 dimensions in single precision stays in the cache
_ROUNDING = 1e-5  # a product in single precision is not further off than this


class QuickVectors(NamedTuple):
    """
    Unit vectors, rounded: ``codes`` (m, dim) int8 times ``steps`` (m,), no further from the vector than ``off`` (n,).

    ``keys`` (n,) are packed; that of ``keys[i]`` stands in row ``rows[i]``, which texts that are the same share.
    """

    keys: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int32]
    codes: npt.NDArray[np.int8]
    steps: Floats
    off: Floats

    @property
    def size_bytes(self) -> int:
        """What they take."""
        return sum(part.nbytes for part in self)

    def worth_a_look(self, vector: Vector, limit: int, documents: Collection[int] | None = None) -> list[int]:
        """
        The keys of all that can be among the *limit* nearest to *vector*, and of few others.

        The product of two unit vectors is off by no more than one of them is.

        Args:
            documents: Whose fragments count; None for all.
        """
        near = self._products(_unit(np.frombuffer(vector, "<f4")))[self.rows]
        off, keys = self.off, self.keys
        if documents is not None:
            places = self._of(documents)
            near, off, keys = near[places], off[places], keys[places]
        bar = np.partition(near - off, -limit)[-limit] if limit < len(keys) else -np.inf
        found: list[int] = keys[near + off >= bar - _ROUNDING].tolist()
        return found

    def _products(self, question: Floats) -> Floats:
        products = np.empty(len(self.codes), np.float32)
        room = np.empty((_ROWS_AT_ONCE, len(question)), np.float32)  # one for all: pages are dear
        for first in range(0, len(products), _ROWS_AT_ONCE):
            codes = self.codes[first : first + _ROWS_AT_ONCE]
            codes.max()  # brings them into the cache: a conversion waits for the memory twice as long
            rows = room[: len(codes)]
            np.copyto(rows, codes)
            np.matmul(rows, question, out=products[first : first + len(codes)])
        products *= self.steps
        return products

    def _of(self, documents: Collection[int]) -> npt.NDArray[np.intp]:
        return np.flatnonzero(np.isin(self.keys >> 20, np.fromiter(documents, np.int64, len(documents))))


def rounded(chunks: Iterable[tuple[bytes, bytes, bytes]], number: int) -> QuickVectors | None:
    """
    The vectors of all *chunks*; None when there is none, and when they are not *number*.

    Args:
        chunks: Packed keys (int64), which of them are there (a bit each, the lowest first), and the vectors (float32)
            of all, of those also that are not.
        number: Of vectors. Joined in the end they would be in memory twice.
    """
    whole, filled, rows = None, 0, 0
    for part in (_rounded(*chunk) for chunk in chunks):
        whole = whole or _room(number, part)
        end, last = filled + len(part.keys), rows + len(part.codes)
        if end > number:
            return None
        whole.keys[filled:end], whole.rows[filled:end] = part.keys, part.rows + rows
        whole.codes[rows:last], whole.steps[rows:last] = part.codes, part.steps
        whole.off[filled:end] = part.off
        filled, rows = end, last
    return _cut(whole, rows) if whole and filled == number else None


def _cut(whole: QuickVectors, rows: int) -> QuickVectors:
    """*whole* without the room that equal vectors left over, which nothing was written into."""
    return whole._replace(codes=whole.codes[:rows], steps=whole.steps[:rows])


def _room(number: int, like: QuickVectors) -> QuickVectors:
    return QuickVectors(*(np.empty((number, *part.shape[1:]), part.dtype) for part in like))


def _rounded(rowids: bytes, validity: bytes, vectors: bytes) -> QuickVectors:
    keys = np.frombuffer(rowids, "<i8")
    there = np.unpackbits(np.frombuffer(validity, np.uint8), bitorder="little")[: len(keys)].astype(bool)
    given = np.frombuffer(vectors, "<f4").reshape(len(keys), -1)[there]
    # The parts of a short note are the same text, and lie beside each other.
    _, firsts, rows = np.unique(given.view(f"V{given.strides[0]}"), return_index=True, return_inverse=True)
    units = given[firsts]
    units = units / np.maximum(np.linalg.norm(units, axis=1, keepdims=True), np.finfo("f4").tiny)
    steps = np.maximum(np.abs(units).max(axis=1), np.finfo("f4").tiny) / _STEPS
    codes = np.rint(units / steps[:, None]).astype(np.int8)
    off = np.linalg.norm(units - codes * steps[:, None], axis=1)
    shared = rows.ravel().astype(np.int32)
    return QuickVectors(keys[there], shared, codes, steps.astype("f4"), off.astype("f4")[shared])


def _unit(vector: Floats) -> Floats:
    return np.asarray(vector / np.linalg.norm(vector))
