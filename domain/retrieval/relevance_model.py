"""The numbers of the relevance model, as `tests/bench/fit_relevance.py` prints them."""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple


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
            bias=4.385, line=2.037, unknown=5.474, entries=1.689, cosine=17.01
        ),
        "minilm:384": AnsweredWeights(bias=1.357, line=2.015, unknown=4.825, entries=1.378, cosine=16.88),
    }
)
ANSWERED_BY_WORDS = AnsweredWeights(bias=5.205, line=3.865, unknown=7.003, entries=1.593)

PLACED = MappingProxyType(
    {
        "document": PlacedWeights(bias=-4.393, relevance=5.29, rank=0.5342),
        "line": PlacedWeights(bias=-4.685, relevance=4.758, rank=0.9595),
    }
)
