"""Conversion and validation of the vectors that a server sends."""

from __future__ import annotations

import math
import struct
from base64 import b64decode
from collections.abc import Sequence
from typing import Any

from clawmem.ports.errors import BadVector
from clawmem.ports.records import Vector

_LARGEST = 1e100  # beyond this value the length of a vector may overflow

# a model may give two texts the same vector, but three different texts with one vector are no coincidence
ENOUGH_TEXTS = 3


def numbers_of(raw: Any) -> list[float]:
    """
    Return the numbers of a vector in a response: a list, or base64 of little-endian float32.

    Raises:
        BadVector: *raw* is neither, or one of the numbers is not finite.
    """
    numbers = _decoded(raw) if isinstance(raw, str) else raw
    if not isinstance(numbers, list) or not numbers:
        raise BadVector("the server sent neither a list of numbers nor base64")
    if isinstance(numbers[0], list):
        raise BadVector("the server sent one vector per token; start it with another --pooling")
    if not all(type(number) in (int, float) and abs(number) <= _LARGEST for number in numbers):
        raise BadVector("the server sent a value that is not a finite number")  # NaN is sent as null
    return numbers


def unit_vector(numbers: Sequence[float], dimensions: int) -> Vector:
    """
    Return *numbers* truncated to *dimensions* and scaled to unit length; a zero vector stays zero.

    Truncation is only valid for models that were trained for it, and then gives the same quality as
    truncation by the provider.
    """
    kept = numbers[:dimensions]
    length = math.hypot(*kept) or 1.0
    return struct.pack(f"<{dimensions}f", *(number / length for number in kept))


def refuse_constant(texts: Sequence[str], vectors: Sequence[Vector]) -> None:
    """
    Raise an error if a server gives different texts the same vector.

    Raises:
        BadVector: three or more different texts have the same vector, so the server does not compute vectors.
    """
    different = {"".join(filter(str.isalnum, text.casefold())) for text in texts}
    if len(different) >= ENOUGH_TEXTS and len(set(vectors)) == 1 and any(vectors[0]):
        raise BadVector("the server sent the same vector for different texts")


def _decoded(text: str) -> list[float]:
    try:
        raw = b64decode(text, validate=True)
        return list(struct.unpack(f"<{len(raw) // 4}f", raw))
    except (ValueError, struct.error) as error:
        raise BadVector("the server sent invalid base64 of float32 numbers") from error
