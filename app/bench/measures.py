"""Retrieval measures of one ranking, and their means with confidence intervals."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from ir_measures import RR, R, Success, calc_aggregate, nDCG

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Places = npt.NDArray[np.int32]

Measures = dict[str, float]

_MEASURES = {
    **{f"recall@{k}": R @ k for k in (1, 5, 10)},
    **{f"hit@{k}": Success @ k for k in (1, 5, 10)},
    "ndcg@10": nDCG @ 10,
    "mrr@10": RR @ 10,
}
_RESAMPLES = 1000
_SEED = 7  # makes tables reproducible


def measure(ranking: Iterable[str], grades: Mapping[str, int]) -> Measures:
    """
    Return recall@k (share of the answers in the top k), hit@k (1 if any is), nDCG@10 and MRR@10.

    The values are those of trec_eval: nDCG has linear gain and a log2(rank + 1) discount.
    """
    scores = {item: -rank for rank, item in enumerate(dict.fromkeys(ranking))}
    found = calc_aggregate(_MEASURES.values(), {"": grades}, {"": scores})
    return {name: found[one] for name, one in _MEASURES.items()}


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
