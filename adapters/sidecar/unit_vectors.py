"""Validation and normalization of vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from clawmem.ports.errors import BadVector
from clawmem.ports.records import Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]


def check_vectors(vectors: Sequence[Vector], dimensions: int) -> int:
    """
    Validate *vectors* and return their number of dimensions.

    Args:
        vectors: At least one vector.
        dimensions: Required dimensions; 0 for those of the first vector.

    Raises:
        BadVector: a vector has other dimensions, a number that is not finite, or only zeros.
    """
    numbers = _numbers(vectors, dimensions or len(vectors[0]) // 4)
    if not numbers.any(axis=1).all():
        raise BadVector("it is all zeros")
    return len(numbers[0])


def question_vector(vector: Vector, dimensions: int) -> Floats | None:
    """
    Return a query vector with unit length: (dim,); None for all zeros.

    Raises:
        BadVector: it does not have *dimensions* numbers, or a number is not finite.
    """
    return unit_rows([vector])[0] if _numbers([vector], dimensions).any() else None


def unit_rows(vectors: Sequence[Vector]) -> Floats:
    """Return validated vectors of the same length as rows (n, dim) float32, unit length."""
    numbers = np.frombuffer(b"".join(vectors), dtype="<f4").reshape(len(vectors), -1).astype(np.float64)
    lengths = np.sqrt(np.square(numbers).sum(axis=1, keepdims=True))
    rows: Floats = (numbers / lengths).astype(np.float32)
    return rows


def _numbers(vectors: Sequence[Vector], dimensions: int) -> Floats:
    for vector in vectors:
        if not vector or len(vector) != 4 * dimensions:
            raise BadVector(f"it has {len(vector) / 4:g} numbers, the others have {dimensions}")
    numbers = np.frombuffer(b"".join(vectors), dtype="<f4").reshape(len(vectors), dimensions)
    if not np.isfinite(numbers).all():
        raise BadVector("one of its numbers is not finite")
    return numbers
