"""How much a prompt may carry and how long that may take: the three profiles, with every number."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from clawmem.ports.named_tuple import NamedTuple

BALANCED = "balanced"
NUDGE_INTERVAL = 15  # blocks since anybody last tended the memory; 0 is never


class Profile(NamedTuple):
    """
    What one profile allows.

    ``budget`` and ``facts_budget`` count tokens, ``results`` lines that are looked at for the block. Without
    ``by_meaning`` no model is loaded; with it, vectors are waited for ``vector_s`` seconds. ``deadline_s`` is
    when everything must be said; a profile that ``deepens`` asks models where less than ``deepen_within_s``
    seconds have passed. ``ratio``, ``activation`` and ``floor`` are the adaptive thresholds, ``least`` the absolute one.
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
    """Whether what is kept depends on the best there is."""

    ADAPTIVE = "adaptive"
    ABSOLUTE = "absolute"


LEAST_WHEN_RECENT = 0.35  # absolute: what is recent matters although it matches less


def profile_named(name: str) -> Profile:
    """The profile of that name; `BALANCED` where there is none."""
    return PROFILES.get(name.strip().lower(), PROFILES[BALANCED])


def least_kept(
    best: float,
    profile: Profile,
    mode: ThresholdMode = ThresholdMode.ADAPTIVE,
    *,
    recency_intent: bool = False,
) -> float | None:
    """
    The confidence from which an answer is kept, given the *best* one; ``None``: nothing is, and nothing is said.

    Adaptive: nothing below ``activation``, else a share of the best, never below ``floor``. Absolute: ``least``.
    """
    if mode is ThresholdMode.ABSOLUTE:
        least = LEAST_WHEN_RECENT if recency_intent else profile.least
        return least if best >= least else None
    return max(best * profile.ratio, profile.floor) if best >= profile.activation else None
