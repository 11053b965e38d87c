"""Measures of one ranking against judgements, and their means with intervals."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping, Sequence

Measures = dict[str, float]

CUTS = (1, 5, 10)
_RESAMPLES = 1000
_SEED = 7  # so that a table can be made again


def measure(ranking: Sequence[str], grades: Mapping[str, float]) -> Measures:
    """
    recall@k (share of the answers in the top k), hit@k (1 if any is), nDCG@10 and MRR@10.

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
    """The mean of each measure; *rows* not empty."""
    return {name: math.fsum(row[name] for row in rows) / len(rows) for name in rows[0]}


def interval(values: Sequence[float]) -> tuple[float, float]:
    """The 95 % percentile bootstrap interval of the mean (Efron 1979), 1000 resamples, fixed seed."""
    rng = random.Random(_SEED)
    means = sorted(math.fsum(rng.choices(values, k=len(values))) / len(values) for _ in range(_RESAMPLES))
    return means[int(0.025 * _RESAMPLES)], means[int(0.975 * _RESAMPLES) - 1]


def percentile(values: Iterable[float], share: float) -> float:
    """The smallest value that *share* of all do not exceed; 0 for none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1)] if ordered else 0.0


def _discounted(gains: Sequence[float]) -> float:
    return math.fsum(gain / math.log2(rank + 2) for rank, gain in enumerate(gains))
