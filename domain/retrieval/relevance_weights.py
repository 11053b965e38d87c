"""Fitted weights. Written by `tests/bench/fit_confidence.py`; do not edit."""

from __future__ import annotations

from types import MappingProxyType

from clawmem.domain.retrieval.relevance_model import AnsweredWeights, PlacedWeights

ANSWERED_BY_WORDS = AnsweredWeights(bias=-5.87, cosine=0.0, coverage=7.39, specificity=4.5, whole=2.41, names=1.14, number=3.06, slot=0.85, entries=0.86, task=2.58)  # fmt: skip

ANSWERED = MappingProxyType({
    "wordllama:l2_supercat": AnsweredWeights(bias=-5.87, cosine=8.8, coverage=7.39, specificity=4.5, whole=2.41, names=1.14, number=3.06, slot=0.85, entries=0.86, task=2.58),
})  # fmt: skip

PLACED = MappingProxyType({
    "document": PlacedWeights(bias=1.63, relevance=0.0, rank=0.99, coverage_share=4.74, cosine_gap=2.08, short_coverage_share=1.91),
    "line": PlacedWeights(bias=1.63, relevance=0.0, rank=0.99, coverage_share=4.74, cosine_gap=2.08, short_coverage_share=1.91),
})  # fmt: skip
