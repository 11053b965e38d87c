"""Scores and term weights of BM25."""

import math

# Keeps the score below 1 where a/(1+a) would round up to 1.
_BELOW_ONE = math.nextafter(1.0, 0.0)


def lexical_score(raw: float) -> float:
    """
    Map a BM25 weight to [0, 1): ``a / (1 + a)`` with ``a = abs(raw)``; 0.0 for NaN, and below 1 for an infinite weight.

    SQLite's ``bm25()`` is zero or negative, and better the further from zero; the formula also fits engines with
    positive scores. It preserves the engine's ranking. The result depends on the corpus and on the number of terms, so
    it cannot be compared with the score of another retriever.
    """
    weight = abs(raw)
    if math.isnan(weight):
        return 0.0
    return min(_BELOW_ONE, weight / (1.0 + weight)) if math.isfinite(weight) else _BELOW_ONE


def rarity(entries: int, holding: int) -> float:
    """
    Return the weight of a term that *holding* of *entries* contain, ``ln(1 + (N - n + .5) / (n + .5))``, above zero.

    It is the weight of Robertson and Spärck Jones, with one added so that it stays positive for very frequent terms.
    """
    return math.log1p((entries - holding + 0.5) / (holding + 0.5))
