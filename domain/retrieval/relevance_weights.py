"""Fitted weights. Written by `tests/bench/fit_relevance.py`; do not edit."""

from __future__ import annotations

from types import MappingProxyType

from clawmem.domain.retrieval.relevance_model import AnsweredWeights, PlacedWeights
from clawmem.domain.retrieval.requested import Shortfall

ANSWERED_BY_WORDS = AnsweredWeights(bias=0.9036, line=1.324, unknown=0.0, entries=0.9052, cosine=0.0, coverage=2.549, words=1.679, unmet=Shortfall(words=1.784, names=2.077, number=3.608, slot=0.7983))  # fmt: skip

ANSWERED = MappingProxyType({
    "wordllama:l2_supercat": AnsweredWeights(bias=0.3587, line=1.16, unknown=0.0, entries=0.8596, cosine=2.946, coverage=2.235, words=1.425, unmet=Shortfall(words=1.557, names=2.03, number=3.839, slot=0.8325)),
    "minilm:384": AnsweredWeights(bias=-0.9974, line=0.872, unknown=0.0, entries=0.6088, cosine=3.818, coverage=1.985, words=1.384, unmet=Shortfall(words=1.81, names=1.792, number=3.598, slot=0.8318)),
})  # fmt: skip

PLACED = MappingProxyType({
    "document": PlacedWeights(bias=-4.29, relevance=5.174, rank=0.7674, coverage=0.1611, name=0.8502, name_coverage=1.149),
    "line": PlacedWeights(bias=-5.599, relevance=5.595, rank=0.8587, coverage=0.0, name=0.0, name_coverage=0.0),
})  # fmt: skip
