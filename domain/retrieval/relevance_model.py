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


class PlacedWeights(NamedTuple):
    """Of the place of one answer among the others; none but the bias is negative."""

    bias: float
    relevance: float
    rank: float


# Lines and passages; the fitted vaults have 313 to 6 812, and nobody knows how the trend goes on far beyond them.
COUNTED_ENTRIES = (30, 7_000)

ANSWERED = MappingProxyType(
    {
        "wordllama:l2_supercat": AnsweredWeights(
            bias=5.879, line=2.447, unknown=5.746, entries=2.169, cosine=19.98
        ),
        "minilm:384": AnsweredWeights(bias=3.198, line=2.297, unknown=5.964, entries=1.744, cosine=17.93),
    }
)
ANSWERED_BY_WORDS = AnsweredWeights(bias=6.747, line=4.232, unknown=7.717, entries=1.903)

PLACED = MappingProxyType(
    {
        "document": PlacedWeights(bias=-5.148, relevance=6.028, rank=0.4557),
        "line": PlacedWeights(bias=-5.291, relevance=5.492, rank=0.8821),
    }
)
