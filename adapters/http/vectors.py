"""From what a server sends as a vector to what may be stored; anything else is refused."""

from __future__ import annotations

import math
import struct
from base64 import b64decode
from collections.abc import Sequence
from typing import Any

from clawmem.ports.errors import BadVector
from clawmem.ports.records import Vector

_LARGEST = 1e100  # beyond it the length of a vector may overflow

ENOUGH_TEXTS = 3  # two texts may be one to a model; three different ones with one vector are no coincidence


def numbers_of(raw: Any) -> list[float]:
    """
    The numbers of a vector as a server sends it: a list, or base64 of little-endian float32.

    Raises:
        BadVector: it is neither, or one of the numbers is not finite.
    """
    numbers = _decoded(raw) if isinstance(raw, str) else raw
    if not isinstance(numbers, list) or not numbers:
        raise BadVector("the server sent something else")
    if isinstance(numbers[0], list):
        raise BadVector("the server sent one vector a token, which its --pooling decides")
    if not all(type(number) in (int, float) and abs(number) <= _LARGEST for number in numbers):
        raise BadVector("the server sent what is no number")  # NaN travels as null, too
    return numbers


def unit_vector(numbers: Sequence[float], dimensions: int) -> Vector:
    """
    *numbers* with length one, shortened to *dimensions* before; all zeros stay zeros.

    Shortening is only right for models that were trained for it, and as good as what the provider does.
    """
    kept = numbers[:dimensions]
    length = math.hypot(*kept) or 1.0
    return struct.pack(f"<{dimensions}f", *(number / length for number in kept))


def refuse_constant(texts: Sequence[str], vectors: Sequence[Vector]) -> None:
    """
    Raises:
        BadVector: three or more different texts have the same vector, as from a server that makes them up.
    """
    different = {"".join(filter(str.isalnum, text.casefold())) for text in texts}
    if len(different) >= ENOUGH_TEXTS and len(set(vectors)) == 1 and any(vectors[0]):
        raise BadVector("the server sent the same vector for different texts")


def _decoded(text: str) -> list[float]:
    try:
        raw = b64decode(text, validate=True)
        return list(struct.unpack(f"<{len(raw) // 4}f", raw))
    except (ValueError, struct.error) as error:
        raise BadVector("the server sent what is no base64 of numbers") from error
