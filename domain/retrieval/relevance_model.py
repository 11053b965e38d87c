"""Weights of the answerability model, as `tests/bench/fit_relevance.py` prints them."""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple


class AnsweredWeights(NamedTuple):
    """Weights of the evidence that a question has an answer; only the bias may be negative."""

    bias: float
    line: float
    unknown: float
    entries: float
    cosine: float = 0.0
    coverage: float = 0.0
    words: float = 0.0


class PlacedWeights(NamedTuple):
    """Weights of the place of one result in the list; only the bias may be negative."""

    bias: float
    relevance: float
    rank: float
    coverage: float = 0.0
    name: float = 0.0
    name_coverage: float = 0.0


# Lines and passages. The fitted vaults have 313 to 6 812; the model is not extrapolated far beyond them.
COUNTED_ENTRIES = (30, 7_000)
NAMED_ENTRIES = 1_000
MOST_COVERAGE = 1.5

ANSWERED = MappingProxyType(
    {
        "wordllama:l2_supercat": AnsweredWeights(
            bias=3.087, line=1.222, unknown=3.283, entries=1.58, cosine=11.37, coverage=2.491, words=0.7729
        ),
        # Bias and cosine have the same difference and ratio to those of the static vectors as in a fit on the two vaults of
        # the repository; the other weights are those of the static vectors.
        "minilm:384": AnsweredWeights(
            bias=2.773, line=1.222, unknown=3.283, entries=1.58, cosine=8.57, coverage=2.491, words=0.7729
        ),
    }
)
ANSWERED_BY_WORDS = AnsweredWeights(
    bias=3.102, line=1.721, unknown=3.52, entries=1.448, coverage=3.437, words=1.568
)

PLACED = MappingProxyType(
    {
        "document": PlacedWeights(
            bias=-4.868, relevance=5.688, rank=0.6072, coverage=0.08788, name=0.9857, name_coverage=1.109
        ),
        "line": PlacedWeights(bias=-5.127, relevance=5.203, rank=0.8792),
    }
)
