"""Fitted weights. Written by `tools/bench/fit_confidence.py`; do not edit."""

from __future__ import annotations

from types import MappingProxyType

from clawmem.domain.retrieval.relevance_model import AnsweredWeights, PlacedWeights

ANSWERED_BY_WORDS = AnsweredWeights(bias=-3.015, cosine=0.0, shared=6.286, miss=4.319, specificity=4.534, entries=0.3793, task=2.912)  # fmt: skip

ANSWERED = MappingProxyType({
    "wordllama:l2_supercat": AnsweredWeights(bias=-5.803, cosine=8.867, shared=3.384, miss=4.908, specificity=6.136, entries=0.5087, task=2.387),
})  # fmt: skip

PLACED = MappingProxyType({
    "document": PlacedWeights(bias=-1.025, relevance=2.298, rank=0.8083, coverage_share=3.699, cosine_gap=0.2941, short_coverage_share=0.009921),
    "line": PlacedWeights(bias=1.751, relevance=0.0, rank=1.002, coverage_share=6.879, cosine_gap=0.9875, short_coverage_share=1.006),
})  # fmt: skip
