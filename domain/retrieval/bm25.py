"""Scores and term weights of BM25."""

from __future__ import annotations

import math

# Keeps the score below 1 where a/(1+a) would round up to 1.
_BELOW_ONE = math.nextafter(1.0, 0.0)


def lexical_score(raw: float) -> float:
    """
    Map a BM25 weight to [0, 1): ``a / (1 + a)`` with ``a = abs(raw)``.

    SQLite's ``bm25()`` is zero or negative, and better the further from zero; the same formula fits engines with
    positive scores. The result increases strictly with ``a`` as long as a float can represent the difference
    (``a`` below about 1e7), so it preserves the engine's ranking. It depends on the size of the corpus and on the
    number of terms and cannot be compared with the score of another retriever.

    Returns:
        0.0 for 0 and for NaN; the largest float below 1 for an infinite weight.
    """
    weight = abs(raw)
    if math.isnan(weight):
        return 0.0
    return min(_BELOW_ONE, weight / (1.0 + weight)) if math.isfinite(weight) else _BELOW_ONE


def rarity(entries: int, holding: int) -> float:
    """
    Return the weight of a term, ``ln(1 + (N - n + .5) / (n + .5))``, always above zero.

    It is the weight of Robertson and Spärck Jones, with one added so that it stays positive for very frequent terms.

    Args:
        entries: N, the number of entries.
        holding: n, the number of entries that contain the term, 0..N.
    """
    return math.log1p((entries - holding + 0.5) / (holding + 0.5))
