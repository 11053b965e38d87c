from __future__ import annotations

import math

# The score stays below 1 even where a/(1+a) would round up to it.
_BELOW_ONE = math.nextafter(1.0, 0.0)


def lexical_score(raw: float) -> float:
    """
    Map a BM25 weight to [0, 1): ``a / (1 + a)`` with ``a = abs(raw)``.

    SQLite's ``bm25()`` is zero or negative and better the further from zero; engines that count upwards
    are served by the same formula. The score grows strictly with ``a`` as long as a float can tell
    two scores apart (``a`` below about 1e7), so it ranks exactly as the engine does. It depends on the
    size of the corpus and on the number of terms: never compare it with another leg's score.

    Returns:
        0.0 for no weight at all and for NaN; the largest float below 1 for an infinite weight.
    """
    weight = abs(raw)
    if math.isnan(weight):
        return 0.0
    return min(_BELOW_ONE, weight / (1.0 + weight)) if math.isfinite(weight) else _BELOW_ONE


def rarity(entries: int, holding: int) -> float:
    """
    How much one more entry with a term tells: ``ln(1 + (N - n + .5) / (n + .5))``, always above zero.

    Robertson and Spärck Jones's weight, with one added so that a term of most entries does not turn negative.

    Args:
        entries: N, how many there are.
        holding: n, how many of them hold the term, 0..N.
    """
    return math.log1p((entries - holding + 0.5) / (holding + 0.5))
