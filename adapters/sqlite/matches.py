"""What a term was found to add to the score of each row, and the sum of several."""

from __future__ import annotations

import math
import sys
from array import array
from collections.abc import Mapping, Sequence
from heapq import nlargest

from clawmem.ports.named_tuple import NamedTuple
from clawmem.ports.records import Term

# Scoring costs about a microsecond a match, and the most frequent words tell least: past this many matches
# of rarer words they are left out.
MOST_MATCHES = 8_000

_TIE = 1e-8  # scores come from single precision: what differs by less is a tie, and ties are cut by key


class Matches(NamedTuple):
    """The rows that hold a term, and what it adds to the score of each."""

    keys: array[int]
    scores: array[float]


def best_of(found: Sequence[Matches], limit: int) -> list[tuple[int, float]]:
    """The rows with the highest sums, highest first, then by key."""
    by_size = sorted(found, key=lambda matches: -len(matches.keys))
    # To load numpy takes longer than a question of a process of its own; where it is there it is ten times as fast.
    near = _near_in_bulk(by_size, limit) if "numpy" in sys.modules else _near(by_size, limit)
    return sorted(near, key=lambda row: (-round(row[1], 9), row[0]))[:limit]


def _near(found: Sequence[Matches], limit: int) -> list[tuple[int, float]]:
    """The rows whose sums are among the *limit* highest, or tie with the last of them, in any order."""
    most, *others = found
    sums = dict(zip(most.keys, most.scores, strict=True))
    for matches in others:
        for key, score in zip(matches.keys, matches.scores, strict=True):
            sums[key] = sums.get(key, 0.0) + score
    least = nlargest(limit, sums.values())[-1] if len(sums) > limit else -math.inf
    return [(key, total) for key, total in sums.items() if total > least - _TIE]


def _near_in_bulk(found: Sequence[Matches], limit: int) -> list[tuple[int, float]]:
    """The same sums, added up in the same order."""
    import numpy as np

    every = np.concatenate([np.frombuffer(matches.keys, np.int64) for matches in found])
    keys, places = np.unique(every, return_inverse=True)
    sums = np.bincount(places, np.concatenate([np.frombuffer(matches.scores) for matches in found]))
    least = np.partition(sums, -limit)[-limit] if len(sums) > limit else -np.inf
    near = np.flatnonzero(sums > least - _TIE)
    return list(zip(keys[near].tolist(), sums[near].tolist(), strict=True))


def telling(terms: Sequence[Term], held: Mapping[Term, int]) -> list[Term]:
    """The rarest of *terms*, as many as have `MOST_MATCHES` together, and always the rarest one."""
    kept: list[Term] = []
    matches = 0
    for term in sorted(terms, key=lambda term: held[term]):
        matches += held[term]
        if kept and matches > MOST_MATCHES:
            break
        kept.append(term)
    return kept
