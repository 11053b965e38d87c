"""Vectors as numbers: looked at before they are stored or compared, and brought to unit length."""

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
    The number of dimensions of *vectors*.

    Args:
        vectors: At least one.
        dimensions: What they must have; 0 leaves that to the first.

    Raises:
        BadVector: one has others, a number that is not finite, or nothing but zeros.
    """
    numbers = _numbers(vectors, dimensions or len(vectors[0]) // 4)
    if not numbers.any(axis=1).all():
        raise BadVector("it is all zeros")
    return len(numbers[0])


def question_vector(vector: Vector, dimensions: int) -> Floats | None:
    """
    What is asked, unit length: (dim,); None for all zeros.

    Raises:
        BadVector: it has not *dimensions* numbers, or one that is not finite.
    """
    return unit_rows([vector])[0] if _numbers([vector], dimensions).any() else None


def unit_rows(vectors: Sequence[Vector]) -> Floats:
    """Checked vectors of one length as rows (n, dim) float32, unit length."""
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
        raise BadVector("a number in it is not finite")
    return numbers
