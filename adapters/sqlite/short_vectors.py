"""Vectors as the vault stores them: 16 bits for each number, in steps of 1/32767."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from clawmem.ports.records import Vector

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

# A scan converts integers four times as fast as numbers of IEEE half precision, which numpy decodes in software.
STEPS = 32767
BYTES = 2
_FULL_BYTES = 4


def shortened(vector: Vector) -> bytes:
    """Return a float32 unit vector in 16 bits for each number; a damaged one, which is no float32, unchanged."""
    import numpy as np

    if len(vector) % _FULL_BYTES:
        return vector
    numbers = np.clip(np.nan_to_num(np.frombuffer(vector, "<f4")), -1, 1)
    stored: bytes = np.rint(numbers * np.float32(STEPS)).astype("<i2").tobytes()
    return stored


def lengthened(stored: bytes) -> Vector:
    """Return the float32 vector of the result of `shortened`; an odd last byte, which is damage, is dropped."""
    import numpy as np

    numbers = np.frombuffer(stored, "<i2", len(stored) // BYTES)
    vector: Vector = (numbers.astype("<f4") / np.float32(STEPS)).tobytes()
    return vector


def all_shortened(vectors: Collection[Vector]) -> list[bytes]:
    """Return the results of `shortened` for *vectors* of one length, in one calculation."""
    return _parts(shortened(b"".join(vectors)), len(vectors))


def all_lengthened(stored: Collection[bytes]) -> list[Vector]:
    """Return the results of `lengthened` for vectors of one length, in one calculation."""
    return _parts(lengthened(b"".join(stored)), len(stored))


def _parts(joined: bytes, number: int) -> list[bytes]:
    size = len(joined) // max(number, 1)
    return [joined[size * nth : size * (nth + 1)] for nth in range(number)]


def as_matrix(stored: bytes, dimensions: int) -> npt.NDArray[np.int16]:
    """Return stored vectors, one after the other, as rows of integers, (n, dimensions)."""
    import numpy as np

    return np.frombuffer(stored, "<i2").reshape(-1, dimensions)
