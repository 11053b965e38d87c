"""Weights of the answerability model, as `tests/bench/fit_relevance.py` prints them."""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple

from clawmem.domain.retrieval.requested import Shortfall


class AnsweredWeights(NamedTuple):
    """Weights of the evidence that a question has an answer; only the bias may be negative."""

    bias: float
    line: float
    unknown: float
    entries: float
    cosine: float = 0.0
    coverage: float = 0.0
    words: float = 0.0
    unmet: Shortfall = Shortfall()


class PlacedWeights(NamedTuple):
    """Weights of the place of one result in the list; only the bias may be negative."""

    bias: float
    relevance: float
    rank: float
    coverage: float = 0.0
    name: float = 0.0
    name_coverage: float = 0.0


# Lines and passages. The fitted vaults have 214 to 6 812. Vaults below the lower bound are treated alike: there the model that
# is fitted on the others takes everything for answered.
COUNTED_ENTRIES = (500, 7_000)
NAMED_ENTRIES = 1_000
MOST_COVERAGE = 1.5

# The biases are 0.3 above the fitted ones: a likely result of a question without an answer does less harm than the loss of an
# answer, and less than half of the fitted questions are asked in other words than the notes use.
ANSWERED = MappingProxyType(
    {
        "wordllama:l2_supercat": AnsweredWeights(
            bias=0.71, line=0.66, unknown=0.64, entries=0.85, cosine=6.74, coverage=2.18, words=0.72,
            unmet=Shortfall(words=0.86, names=1.71, number=2.75, slot=0.6),
        ),
        # Bias and cosine have the same difference and ratio to those of the static vectors as in a fit on the two vaults of
        # the repository; the other weights are those of the static vectors.
        "minilm:384": AnsweredWeights(
            bias=0.4, line=0.66, unknown=0.64, entries=0.85, cosine=5.08, coverage=2.18, words=0.72,
            unmet=Shortfall(words=0.86, names=1.71, number=2.75, slot=0.6),
        ),
    }
)  # fmt: skip
ANSWERED_BY_WORDS = AnsweredWeights(
    bias=0.79, line=1.04, unknown=0.51, entries=0.83, coverage=2.9, words=1.3,
    unmet=Shortfall(words=1.01, names=1.78, number=2.36, slot=0.6),
)  # fmt: skip

PLACED = MappingProxyType(
    {
        "document": PlacedWeights(
            bias=-4.868, relevance=5.688, rank=0.6072, coverage=0.08788, name=0.9857, name_coverage=1.109
        ),
        "line": PlacedWeights(bias=-5.127, relevance=5.203, rank=0.8792),
    }
)
