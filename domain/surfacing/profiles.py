"""The three surfacing profiles: limits on tokens, results and time, and confidence thresholds."""

from collections.abc import Mapping
from typing import NamedTuple

BALANCED = "balanced"
NUDGE_INTERVAL = 15  # blocks without curation of the memory until a reminder; 0 disables it
LEAST_BUDGET, MOST_BUDGET = 100, 4_000  # tokens that a user may choose instead of those of the profile


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
        ratio: Threshold, as a share of the best confidence.
        activation: Minimum confidence of the best candidate.
        floor: Lower bound of the threshold.
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
    deadline_s: float = 2.0
    deepens: bool = False
    deepen_within_s: float = 0.0


PROFILES: Mapping[str, Profile] = {
    "speed": Profile("speed", 400, 0, 5, False, 0.0, 0.65, 0.24, 0.18),
    BALANCED: Profile(BALANCED, 800, 200, 10, True, 0.9, 0.55, 0.20, 0.15),
    "deep": Profile("deep", 1200, 250, 15, True, 2.0, 0.45, 0.16, 0.12, 6.0, True, 4.0),
}


def profile_named(name: str, budget: int | None = None) -> Profile:
    """Return the profile called *name*, or `BALANCED` if there is none; with another *budget* of tokens if given."""
    profile = PROFILES.get(name.strip().lower(), PROFILES[BALANCED])
    if budget is None:
        return profile
    tokens = min(MOST_BUDGET, max(LEAST_BUDGET, budget))
    return profile._replace(budget=tokens, facts_budget=min(profile.facts_budget, tokens // 4))


def least_kept(best: float, profile: Profile) -> float | None:
    """
    Return the minimum confidence of candidates to keep, given the *best* one; ``None`` to keep no candidate.

    It is the share ``ratio`` of the best, but at least ``floor``.
    """
    return max(best * profile.ratio, profile.floor) if best >= profile.activation else None
