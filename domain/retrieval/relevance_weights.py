"""Fitted weights. Written by `tools/bench/fit_confidence.py`; do not edit."""

from __future__ import annotations

from types import MappingProxyType

ANSWERED_BY_WORDS = {"bias": -5.018, "cosine": 0.0, "shared": 6.312, "miss": 2.929, "specificity": 4.247, "entries": 0.303, "task": 3.314}  # fmt: skip

ANSWERED = MappingProxyType({
    "wordllama:l2_supercat": {"bias": -6.285, "cosine": 9.284, "shared": 3.461, "miss": 4.377, "specificity": 6.378, "entries": 0.4704, "task": 2.831},
    "bge-small:384": {"bias": -15.81, "cosine": 18.18, "shared": 2.949, "miss": 4.932, "specificity": 7.544, "entries": 0.4459, "task": 2.762},
    "multilingual-e5:384": {"bias": -22.55, "cosine": 22.19, "shared": 3.654, "miss": 3.952, "specificity": 5.788, "entries": 0.3473, "task": 3.5},
})  # fmt: skip

PLACED = MappingProxyType({
    "document": {"bias": -0.8175, "relevance": 2.058, "rank": 0.8523, "coverage_share": 3.46, "cosine_gap": 0.2745, "short_coverage_share": 0.0},
    "line": {"bias": 1.717, "relevance": 0.0, "rank": 1.075, "coverage_share": 3.713, "cosine_gap": 1.636, "short_coverage_share": 3.169},
})  # fmt: skip
