"""
How well a text covers a question, word by word.

Each word of the question is matched with the nearest word of the text (the MaxSim of ColBERT, Khattab &
Zaharia 2020), so that a synonym counts for nearly as much as the word itself.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from clawmem.ports.records import FragmentKey

# What a line's neighbours may lend it: "it" in one line is named in the line before.
NEIGHBOUR_SHARES = (1.0, 0.8, 0.5)

Row = Sequence[float]


def coverage(weights: Row, nearest: Row) -> float:
    """
    The weighted mean of how near the text comes to each word of the question.

    Args:
        weights: Of the question's words, not negative; they sum to 1, so that the result lies in [0, 1].
        nearest: For each word the similarity of the nearest word of the text, in [0, 1].

    Raises:
        ValueError: not as many numbers as weights.
    """
    return math.fsum(weight * near for weight, near in zip(weights, nearest, strict=True))


def covered(
    keys: Collection[FragmentKey],
    rows: Mapping[FragmentKey, Row],
    weights: Row,
    shares: Row = NEIGHBOUR_SHARES,
) -> dict[FragmentKey, float]:
    """
    The coverage of each line of *keys*, with what the lines around it lend.

    For each word of the question the best counts of the line itself and its neighbours, those *d* lines
    away at ``shares[d]``. A line without a row of its own gets what its neighbours lend.

    Args:
        rows: How near each line comes to each word; of *keys* and of their neighbours that exist.
    """
    return {key: coverage(weights, _best(key, rows, len(weights), shares)) for key in keys}


def around(keys: Collection[FragmentKey], shares: Row = NEIGHBOUR_SHARES) -> set[FragmentKey]:
    """*keys* and those of the lines that may lend to them."""
    reach = range(1 - len(shares), len(shares))
    return {FragmentKey(key.document_id, key.seq + step) for key in keys for step in reach}


def _best(key: FragmentKey, rows: Mapping[FragmentKey, Row], width: int, shares: Row) -> list[float]:
    document_id, seq = key
    at: Mapping[Any, Row] = rows  # asked by plain pairs, of which several for each line are made
    found = [
        (share, row)
        for step in range(1 - len(shares), len(shares))
        if (share := shares[abs(step)]) and (row := at.get((document_id, seq + step)))
    ]
    lent = [[share * near for near in row] for share, row in found]
    return [max(word) for word in zip([0.0] * width, *lent, strict=True)]
