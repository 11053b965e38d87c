"""Fitted weights. Written by `tools/bench/fit_confidence.py`; do not edit."""

from __future__ import annotations

from types import MappingProxyType

ANSWERED_BY_WORDS = {"bias": -4.353, "cosine": 0.0, "shared": 5.611, "miss": 4.352, "specificity": 3.818, "entries": 0.2334, "task": 3.69}  # fmt: skip

ANSWERED = MappingProxyType({
    "wordllama:l2_supercat": {"bias": -6.405, "cosine": 8.937, "shared": 3.167, "miss": 4.863, "specificity": 6.473, "entries": 0.3934, "task": 3.211},
    "bge-small:384": {"bias": -15.81, "cosine": 18.18, "shared": 2.949, "miss": 4.932, "specificity": 7.544, "entries": 0.4459, "task": 2.762},
})  # fmt: skip

PLACED = MappingProxyType({
    "document": {"bias": -0.8175, "relevance": 2.058, "rank": 0.8523, "coverage_share": 3.46, "cosine_gap": 0.2745, "short_coverage_share": 0.0},
    "line": {"bias": 1.717, "relevance": 0.0, "rank": 1.075, "coverage_share": 3.713, "cosine_gap": 1.636, "short_coverage_share": 3.169},
})  # fmt: skip
