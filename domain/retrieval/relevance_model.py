"""The numbers of the relevance model, as `tests/bench/fit_relevance.py` prints them."""

from __future__ import annotations

from types import MappingProxyType

from clawmem.ports.named_tuple import NamedTuple


class AnsweredWeights(NamedTuple):
    """Of the evidence that a question is answered at all; none but the bias is negative."""

    bias: float
    line: float
    unknown: float
    entries: float
    cosine: float = 0.0
    coverage: float = 0.0
    words: float = 0.0


class PlacedWeights(NamedTuple):
    """Of the place of one answer among the others; none but the bias is negative."""

    bias: float
    relevance: float
    rank: float
    coverage: float = 0.0
    name: float = 0.0
    name_coverage: float = 0.0


# Lines and passages; the fitted vaults have 313 to 6 812, and nobody knows how the trend goes on far beyond them.
COUNTED_ENTRIES = (30, 7_000)
MOST_COVERAGE = 1.5

ANSWERED = MappingProxyType(
    {
        "wordllama:l2_supercat": AnsweredWeights(
            bias=2.191, line=1.219, unknown=2.927, entries=1.479, cosine=10.83, coverage=2.621, words=0.816
        ),
        # Bias and cosine fitted on the two vaults of the repository, the others taken from the static vectors.
        "minilm:384": AnsweredWeights(
            bias=1.877, line=1.219, unknown=2.927, entries=1.479, cosine=8.163, coverage=2.621, words=0.816
        ),
    }
)
ANSWERED_BY_WORDS = AnsweredWeights(
    bias=2.394, line=1.752, unknown=3.197, entries=1.397, coverage=3.541, words=1.588
)

PLACED = MappingProxyType(
    {
        "document": PlacedWeights(
            bias=-4.908, relevance=5.66, rank=0.5874, coverage=0.1276, name=0.9575, name_coverage=1.123
        ),
        "line": PlacedWeights(bias=-5.291, relevance=5.492, rank=0.8821),
    }
)
