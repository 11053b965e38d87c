"""Fitted weights. Written by `tools/bench/fit_confidence.py`; do not edit."""

from __future__ import annotations

from types import MappingProxyType

from clawmem.domain.retrieval.relevance_model import AnsweredWeights, PlacedWeights

ANSWERED_BY_WORDS = AnsweredWeights(bias=-3.483, cosine=0.0, shared=6.446, miss=3.883, specificity=4.512, entries=0.3841, task=2.926)  # fmt: skip

ANSWERED = MappingProxyType({
    "wordllama:l2_supercat": AnsweredWeights(bias=-5.465, cosine=8.839, shared=3.411, miss=4.86, specificity=6.149, entries=0.5082, task=2.402),
})  # fmt: skip

PLACED = MappingProxyType({
    "document": PlacedWeights(bias=-0.8175, relevance=2.058, rank=0.8523, coverage_share=3.46, cosine_gap=0.2745, short_coverage_share=0.0),
    "line": PlacedWeights(bias=1.717, relevance=0.0, rank=1.075, coverage_share=3.713, cosine_gap=1.636, short_coverage_share=3.169),
})  # fmt: skip
