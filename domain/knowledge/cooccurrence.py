"""How much it says that two entities occur together."""

from __future__ import annotations

import math

FULL = 5.0  # log of the number of documents (about 147) from which on it could not say more


def cooccurrence_score(count: int) -> float:
    """
    ``min(1, ln(1 + count) / 5)``: how near two entities are that *count* documents mention together, in [0, 1].

    Raises:
        ValueError: *count* is negative.
    """
    if count < 0:
        raise ValueError(f"two entities cannot occur together {count} times")
    return min(1.0, math.log1p(count) / FULL)
