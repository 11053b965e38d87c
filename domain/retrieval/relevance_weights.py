"""Fitted weights. Written by `tools/bench/fit_confidence.py`; do not edit."""

from __future__ import annotations

from types import MappingProxyType

ANSWERED_BY_WORDS = {"bias": -4.204, "cosine": 0.0, "shared": 5.697, "miss": 3.979, "specificity": 3.447, "entries": 0.2291, "task": 3.505}  # fmt: skip

ANSWERED = MappingProxyType({
    "wordllama:l2_supercat": {"bias": -6.337, "cosine": 8.898, "shared": 3.172, "miss": 4.789, "specificity": 6.364, "entries": 0.3901, "task": 3.129},
    "bge-small:384": {"bias": -15.81, "cosine": 18.18, "shared": 2.949, "miss": 4.932, "specificity": 7.544, "entries": 0.4459, "task": 2.762},
})  # fmt: skip

PLACED = MappingProxyType({
    "document": {"bias": -0.8175, "relevance": 2.058, "rank": 0.8523, "coverage_share": 3.46, "cosine_gap": 0.2745, "short_coverage_share": 0.0},
    "line": {"bias": 1.717, "relevance": 0.0, "rank": 1.075, "coverage_share": 3.713, "cosine_gap": 1.636, "short_coverage_share": 3.169},
})  # fmt: skip
