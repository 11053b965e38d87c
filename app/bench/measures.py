"""Retrieval measures of one ranking, and their means with confidence intervals."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Places = npt.NDArray[np.int32]

Measures = dict[str, float]

CUTS = (1, 5, 10)
_RESAMPLES = 1000
_SEED = 7  # makes tables reproducible


def measure(ranking: Sequence[str], grades: Mapping[str, float]) -> Measures:
    """
    Return recall@k (share of the answers in the top k), hit@k (1 if any is), nDCG@10 and MRR@10.

    nDCG as in Järvelin & Kekäläinen 2002 with linear gain and log2(rank + 1) discount.
    """
    found: Measures = {}
    for k in CUTS:
        got = sum(item in grades for item in ranking[:k])
        found[f"recall@{k}"] = got / len(grades)
        found[f"hit@{k}"] = float(got > 0)
    gains = [grades.get(item, 0.0) for item in ranking[:10]]
    ideal = sorted(grades.values(), reverse=True)[:10]
    found["ndcg@10"] = _discounted(gains) / _discounted(ideal)
    found["mrr@10"] = next((1 / rank for rank, gain in enumerate(gains, start=1) if gain), 0.0)
    return found


def mean(rows: Sequence[Measures]) -> Measures:
    """Return the mean of each measure; *rows* must not be empty."""
    return {name: math.fsum(row[name] for row in rows) / len(rows) for name in rows[0]}


def interval(values: Sequence[float]) -> tuple[float, float]:
    """
    Return the 95 % percentile bootstrap interval of the mean (Efron 1979), with 1000 resamples and a fixed seed.

    For per-question differences between two systems, this is the paired interval.
    """
    import numpy as np

    means = np.sort(np.asarray(values, dtype=np.float64)[_resamples(len(values))].mean(axis=1))
    return float(means[int(0.025 * _RESAMPLES)]), float(means[int(0.975 * _RESAMPLES) - 1])


def percentile(values: Iterable[float], share: float) -> float:
    """Return the smallest value that at least *share* of all values do not exceed; 0 without values."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1)] if ordered else 0.0


@lru_cache(32)  # a report needs many intervals for the same few numbers of questions
def _resamples(count: int) -> Places:
    """Return the indices that each resample draws from *count* values; the same ones for every measure."""
    import numpy as np

    # From the standard library, whose sequence is guaranteed, unlike numpy's.
    rng = random.Random(_SEED)
    drawn = [rng.choices(range(count), k=count) for _ in range(_RESAMPLES)]
    return np.array(drawn, dtype=np.int32)


def _discounted(gains: Sequence[float]) -> float:
    return math.fsum(gain / math.log2(rank + 2) for rank, gain in enumerate(gains))
