"""Weights of the lexical and vector retrievers for each intent of a question."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from clawmem.domain.retrieval.intent import Intent


class RetrieverWeights(NamedTuple):
    """Factors by which the weights of the lexical and vector retrievers are multiplied."""

    words: float
    meaning: float


# A time is found by its words; a reason is often expressed in other words than the question.
RETRIEVER_WEIGHTS: Mapping[Intent, RetrieverWeights] = MappingProxyType(
    {
        Intent.WHY: RetrieverWeights(words=1.0, meaning=1.5),
        Intent.WHEN: RetrieverWeights(words=1.5, meaning=1.0),
        Intent.ENTITY: RetrieverWeights(words=1.0, meaning=1.0),
        Intent.WHAT: RetrieverWeights(words=1.0, meaning=1.0),
    }
)


def weights_for_intent(weights: Mapping[str, float], intent: Intent, meaning: str) -> dict[str, float]:
    """Return *weights* of fusion adjusted to *intent*; *meaning* is the name of the vector retriever."""
    factors = RETRIEVER_WEIGHTS[intent]
    return {
        name: weight * (factors.meaning if name == meaning else factors.words)
        for name, weight in weights.items()
    }
