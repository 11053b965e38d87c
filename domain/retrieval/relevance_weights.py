"""Fitted weights. Written by `tests/bench/fit_confidence.py`; do not edit."""

from __future__ import annotations

from types import MappingProxyType

from clawmem.domain.retrieval.relevance_model import AnsweredWeights, PlacedWeights

ANSWERED_BY_WORDS = AnsweredWeights(bias=-2.909, cosine=0.0, coverage=6.865, specificity=3.409, whole=0.4125, names=1.897, number=2.338, slot=0.5578, entries=0.3873, task=3.013)  # fmt: skip

ANSWERED = MappingProxyType({
    "wordllama:l2_supercat": AnsweredWeights(bias=-7.336, cosine=8.983, coverage=7.005, specificity=5.375, whole=1.557, names=1.433, number=3.543, slot=0.7305, entries=0.6573, task=2.558),
    "minilm:384": AnsweredWeights(bias=-4.772, cosine=9.053, coverage=5.175, specificity=2.441, whole=2.027, names=1.057, number=2.634, slot=0.8774, entries=0.5458, task=2.198),
})  # fmt: skip

PLACED = MappingProxyType({
    "document": PlacedWeights(bias=-2.777, relevance=4.151, rank=0.8567, coverage_share=1.468, cosine_gap=0.0, short_coverage_share=0.07636),
    "line": PlacedWeights(bias=1.624, relevance=0.0, rank=0.9831, coverage_share=4.868, cosine_gap=2.158, short_coverage_share=1.609),
})  # fmt: skip
