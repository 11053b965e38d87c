"""Fitted weights. Written by `tools/bench/fit_confidence.py`; do not edit."""

from __future__ import annotations

from types import MappingProxyType

from clawmem.domain.retrieval.relevance_model import AnsweredWeights, PlacedWeights

ANSWERED_BY_WORDS = AnsweredWeights(bias=-3.713, cosine=0.0, coverage=6.426, specificity=3.559, whole=0.5877, names=1.819, number=2.379, slot=0.5594, entries=0.3306, task=3.316)  # fmt: skip

ANSWERED = MappingProxyType({
    "wordllama:l2_supercat": AnsweredWeights(bias=-8.779, cosine=8.976, coverage=6.531, specificity=6.275, whole=1.898, names=1.404, number=3.515, slot=0.7362, entries=0.6044, task=2.862),
    "minilm:384": AnsweredWeights(bias=-6.221, cosine=9.295, coverage=4.991, specificity=3.289, whole=2.237, names=1.039, number=2.611, slot=0.88, entries=0.5348, task=2.437),
})  # fmt: skip

PLACED = MappingProxyType({
    "document": PlacedWeights(bias=-2.777, relevance=4.151, rank=0.8567, coverage_share=1.468, cosine_gap=0.0, short_coverage_share=0.07636),
    "line": PlacedWeights(bias=1.624, relevance=0.0, rank=0.9831, coverage_share=4.868, cosine_gap=2.158, short_coverage_share=1.609),
})  # fmt: skip
