"""The three surfacing profiles: limits on tokens, results and time, and confidence thresholds."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

BALANCED = "balanced"
NUDGE_INTERVAL = 15  # blocks without curation of the memory until a reminder; 0 disables it


class Profile(NamedTuple):
    """
    Limits and thresholds of one profile.

    Attributes:
        name: Name in the settings.
        budget: Tokens of the block.
        facts_budget: Tokens of facts from the knowledge graph.
        results: Number of results that are considered for the block.
        by_meaning: Whether vector retrieval is used; if not, no model is loaded.
        vector_s: Seconds to wait for vector retrieval.
        ratio: Adaptive threshold, as a share of the best confidence.
        activation: Adaptive mode: minimum confidence of the best candidate.
        floor: Adaptive mode: lower bound of the threshold.
        least: Absolute threshold.
        deadline_s: Seconds within which the answer must be complete.
        deepens: Whether generative models and rerankers may be used.
        deepen_within_s: Seconds after the prompt within which they may be started.
    """

    name: str
    budget: int
    facts_budget: int
    results: int
    by_meaning: bool
    vector_s: float
    ratio: float
    activation: float
    floor: float
    least: float
    deadline_s: float = 2.0
    deepens: bool = False
    deepen_within_s: float = 0.0


PROFILES: Mapping[str, Profile] = MappingProxyType(
    {
        "speed": Profile("speed", 400, 0, 5, False, 0.0, 0.65, 0.24, 0.18, 0.55),
        BALANCED: Profile(BALANCED, 800, 200, 10, True, 0.9, 0.55, 0.20, 0.15, 0.45),
        "deep": Profile("deep", 1200, 250, 15, True, 2.0, 0.45, 0.16, 0.12, 0.25, 6.0, True, 4.0),
    }
)


class ThresholdMode(StrEnum):
    """Mode of the confidence threshold: relative to the best candidate, or absolute."""

    ADAPTIVE = "adaptive"
    ABSOLUTE = "absolute"


LEAST_WHEN_RECENT = 0.35  # absolute threshold of prompts about recent events, whose matches score lower


LEAST_BUDGET, MOST_BUDGET = 100, 4_000  # tokens that a user may choose instead of those of the profile


def profile_named(name: str, budget: int | None = None) -> Profile:
    """Return the profile called *name*, or `BALANCED` if there is none; with another *budget* of tokens if given."""
    found = PROFILES.get(name.strip().lower(), PROFILES[BALANCED])
    if budget is None:
        return found
    tokens = min(MOST_BUDGET, max(LEAST_BUDGET, budget))
    return found._replace(budget=tokens, facts_budget=min(found.facts_budget, tokens // 4))


def least_kept(
    best: float,
    profile: Profile,
    mode: ThresholdMode = ThresholdMode.ADAPTIVE,
    *,
    recency_intent: bool = False,
) -> float | None:
    """
    Return the minimum confidence of candidates to keep, given the *best* one; ``None`` to keep no candidate.

    Adaptive mode: ``None`` if the best is below ``activation``, else the share ``ratio`` of the best, but at least
    ``floor``. Absolute mode: ``least``, or `LEAST_WHEN_RECENT` with *recency_intent*; ``None`` if the best is below it.
    """
    if mode is ThresholdMode.ABSOLUTE:
        least = LEAST_WHEN_RECENT if recency_intent else profile.least
        return least if best >= least else None
    return max(best * profile.ratio, profile.floor) if best >= profile.activation else None
