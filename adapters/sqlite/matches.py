"""Matches of a term with their score contributions, and the top rows by summed score."""

from __future__ import annotations

import math
import sys
from array import array
from collections import Counter
from collections.abc import Sequence
from heapq import nlargest
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

# Scores come from single precision. Scores equal after this rounding are ties, and ties are ordered by key.
_TIES = 1e9
_NEARLY = 1e-8  # a score lower than the last place by more than this is no tie


class Matches(NamedTuple):
    """The rows that contain a term, and the contribution of the term to the score of each row."""

    keys: array[int]
    scores: array[float]


def best_of(found: Sequence[Matches], limit: int, *, every: bool = False) -> Matches:
    """
    Return the *limit* rows with the highest sums, highest first, then by key.

    Args:
        every: Whether only rows count that are in each element of *found*.
    """
    least_terms = len(found) if every else 1
    by_size = sorted(found, key=lambda matches: -len(matches.keys))
    # Importing numpy takes longer than the only query of a short process; once imported it is ten times as
    # fast.
    best = _best_in_bulk if "numpy" in sys.modules else _best
    return best(by_size, limit, least_terms)


def _best(found: Sequence[Matches], limit: int, least_terms: int) -> Matches:
    most, *others = found
    sums = dict(zip(most.keys, most.scores, strict=True))
    for matches in others:
        for key, score in zip(matches.keys, matches.scores, strict=True):
            sums[key] = sums.get(key, 0.0) + score
    if least_terms > 1:
        terms = Counter(chain.from_iterable(matches.keys for matches in found))
        sums = {key: total for key, total in sums.items() if terms[key] >= least_terms}
    least = nlargest(limit, sums.values())[-1] if len(sums) > limit else -math.inf
    near = (row for row in sums.items() if row[1] > least - _NEARLY)
    ranked = sorted(near, key=lambda row: (-round(row[1] * _TIES), row[0]))[:limit]
    return Matches(array("q", [key for key, _ in ranked]), array("d", [total for _, total in ranked]))


def _best_in_bulk(found: Sequence[Matches], limit: int, least_terms: int) -> Matches:
    """Return the same as `_best`, with the sums added up in the same order."""
    import numpy as np

    keys, sums = _sums_in_bulk(found, least_terms)
    if len(sums) > limit:
        near = np.flatnonzero(sums > np.partition(sums, -limit)[-limit] - _NEARLY)
        keys, sums = keys[near], sums[near]
    ranked = np.lexsort((keys, -np.rint(sums * _TIES)))[:limit]
    return Matches(array("q", keys[ranked].tobytes()), array("d", sums[ranked].tobytes()))


def _sums_in_bulk(
    found: Sequence[Matches], least_terms: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    import numpy as np

    keys = [np.frombuffer(matches.keys, np.int64) for matches in found]
    scores = [np.frombuffer(matches.scores) for matches in found]
    if len(found) == 1:
        return keys[0], scores[0]
    every, places = np.unique(np.concatenate(keys), return_inverse=True)
    sums = np.bincount(places, np.concatenate(scores)).astype(np.float64, copy=False)
    if least_terms == 1:
        return every, sums
    shared = np.bincount(places) >= least_terms
    return every[shared], sums[shared]
