"""How much words and meaning count for each kind of question."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from clawmem.domain.retrieval.intent import Intent


class LegWeights(NamedTuple):
    """What the two ways of finding are worth, relative to each other's usual worth."""

    words: float
    meaning: float


# A time is named by its words; a reason is often given in others than it is asked for.
LEG_WEIGHTS: Mapping[Intent, LegWeights] = MappingProxyType(
    {
        Intent.WHY: LegWeights(words=1.0, meaning=1.5),
        Intent.WHEN: LegWeights(words=1.5, meaning=1.0),
        Intent.ENTITY: LegWeights(words=1.0, meaning=1.0),
        Intent.WHAT: LegWeights(words=1.0, meaning=1.0),
    }
)


def steered(weights: Mapping[str, float], intent: Intent, meaning: str) -> dict[str, float]:
    """*weights* of fusion as the *intent* wants them; the leg called *meaning* is that of vectors."""
    factors = LEG_WEIGHTS[intent]
    return {
        name: weight * (factors.meaning if name == meaning else factors.words)
        for name, weight in weights.items()
    }
