"""Strength of the co-occurrence of two entities."""

from __future__ import annotations

import math

FULL = 5.0  # natural logarithm of the count (about 147 documents) at which the score reaches 1


def cooccurrence_score(count: int) -> float:
    """
    Return ``min(1, ln(1 + count) / 5)``, the strength of two entities that *count* documents mention together.

    Raises:
        ValueError: *count* is negative.
    """
    if count < 0:
        raise ValueError(f"two entities cannot occur together {count} times")
    return min(1.0, math.log1p(count) / FULL)
