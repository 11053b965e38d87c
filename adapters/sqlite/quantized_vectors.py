"""Quantized vectors (int8) that a process caches to select the candidates for an exact comparison."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from clawmem.ports.records import Vector

    Floats = npt.NDArray[np.float32]

_STEPS = 127
# 512 rows of 256 dimensions in single precision are half a megabyte, which fits the CPU cache
_ROWS_AT_ONCE = 512
_ROUNDING = 1e-5  # upper bound of the error of a product in single precision


class QuantizedVectors(NamedTuple):
    """
    Quantized unit vectors: ``codes`` (m, dim) int8 times ``steps`` (m,), with error bounds ``off`` (n,).

    ``keys`` (n,) are packed. The vector of ``keys[i]`` is in row ``rows[i]``; equal texts share a row.
    """

    keys: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int32]
    codes: npt.NDArray[np.int8]
    steps: Floats
    off: Floats

    @property
    def size_bytes(self) -> int:
        """Memory size in bytes."""
        return sum(part.nbytes for part in self)

    def candidates(self, vector: Vector, limit: int, documents: Collection[int] | None = None) -> list[int]:
        """
        Return the keys of all vectors that can be among the *limit* nearest to *vector*, and of few others.

        The error of a product of two unit vectors is at most the error of one of them.

        Args:
            documents: Ids of the documents to search; None for all.
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
        # one buffer for all batches, because allocating pages is expensive
        room = np.empty((_ROWS_AT_ONCE, len(question)), np.float32)
        for first in range(0, len(products), _ROWS_AT_ONCE):
            codes = self.codes[first : first + _ROWS_AT_ONCE]
            # loads the codes into the CPU cache; the conversion alone would wait twice as long for memory
            codes.max()
            rows = room[: len(codes)]
            np.copyto(rows, codes)
            np.matmul(rows, question, out=products[first : first + len(codes)])
        products *= self.steps
        return products

    def _of(self, documents: Collection[int]) -> npt.NDArray[np.intp]:
        return np.flatnonzero(np.isin(self.keys >> 20, np.fromiter(documents, np.int64, len(documents))))


def rounded(chunks: Iterable[tuple[bytes, bytes]], number: int) -> QuantizedVectors | None:
    """
    Quantize the vectors of all *chunks*; None if there is none, or if there are not exactly *number*.

    Args:
        chunks: Packed keys (int64), and their vectors (float32).
        number: Number of vectors. It allocates the result once; concatenating would need twice the memory.
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


def _cut(whole: QuantizedVectors, rows: int) -> QuantizedVectors:
    """Return *whole* without the unused rows that equal vectors left over."""
    return whole._replace(codes=whole.codes[:rows], steps=whole.steps[:rows])


def _room(number: int, like: QuantizedVectors) -> QuantizedVectors:
    return QuantizedVectors(*(np.empty((number, *part.shape[1:]), part.dtype) for part in like))


def _rounded(packed: bytes, vectors: bytes) -> QuantizedVectors:
    keys = np.frombuffer(packed, "<i8")
    given = np.frombuffer(vectors, "<f4").reshape(len(keys), -1)
    # The fragments of a short note are the same text and are stored next to each other.
    _, firsts, rows = np.unique(given.view(f"V{given.strides[0]}"), return_index=True, return_inverse=True)
    units = given[firsts]
    units = units / np.maximum(np.linalg.norm(units, axis=1, keepdims=True), np.finfo("f4").tiny)
    steps = np.maximum(np.abs(units).max(axis=1), np.finfo("f4").tiny) / _STEPS
    codes = np.rint(units / steps[:, None]).astype(np.int8)
    off = np.linalg.norm(units - codes * steps[:, None], axis=1)
    shared = rows.ravel().astype(np.int32)
    return QuantizedVectors(keys, shared, codes, steps.astype("f4"), off.astype("f4")[shared])


def _unit(vector: Floats) -> Floats:
    return np.asarray(vector / np.linalg.norm(vector))
