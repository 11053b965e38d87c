"""Conversion between vectors in bytes and LanceDB's column of vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clawmem.ports.errors import BadVector
from clawmem.ports.records import Vector


def refuse_bad(vectors: Sequence[Vector], length: int) -> None:
    """
    Raise an error if one of *vectors* is invalid. Call this before the first is written.

    Args:
        length: Required length in bytes; 0 for the length of the first vector.

    Raises:
        BadVector: a vector is not finite, is all zeros, or has another length.
    """
    import numpy as np

    expected = length or len(vectors[0])
    for vector in vectors:
        if not vector or len(vector) % 4:
            raise BadVector(f"{len(vector)} bytes are no float32 numbers")
        if len(vector) != expected:
            raise BadVector(f"it has {len(vector) // 4} numbers, the others have {expected // 4}")
    numbers = _numbers(vectors).reshape(len(vectors), -1)  # shape (n, dim)
    if not np.isfinite(numbers).all():
        raise BadVector("one of its numbers is not finite")
    if not numbers.any(axis=1).all():
        raise BadVector("it is all zeros")


def vector_type(length: int) -> Any:
    """Return the type of a column for vectors of *length* bytes."""
    import pyarrow as pa

    return pa.list_(pa.float32(), length // 4)


def fixed_size(vectors: Sequence[Vector]) -> Any:
    """Return *vectors*, all of the same length, as a column."""
    import pyarrow as pa

    numbers = pa.array(_numbers(vectors), pa.float32())
    return pa.FixedSizeListArray.from_arrays(numbers, len(vectors[0]) // 4)


def _numbers(vectors: Sequence[Vector]) -> Any:
    import numpy as np

    return np.frombuffer(b"".join(vectors), "<f4")  # shape (n * dim,)
