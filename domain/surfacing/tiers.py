"""Tiers that limit the length of an answer's text by its score relative to the best."""

from __future__ import annotations

from enum import StrEnum

HOT_ABOVE, WARM_ABOVE = 0.8, 0.6


class Tier(StrEnum):
    """Tier of an answer; `CHARACTERS` maps tiers to text lengths."""

    HOT = "hot"
    WARM = "warm"
    COLD = "cold"


# If the budget is too small for all texts, at least this share goes to texts at the full length of their tier; texts
# after them may be cut to the warm length. Otherwise, if all scores are close, all texts would be hot and few would fit.
FULL_SHARE = 0.5

CHARACTERS = {Tier.HOT: 300, Tier.WARM: 150, Tier.COLD: 0}  # of text; title and place are always shown


def tier_of(score: float) -> Tier:
    """Return the tier of *score*, a share of the best score in [0, 1]; a bound belongs to the lower tier."""
    if score > HOT_ABOVE:
        return Tier.HOT
    return Tier.WARM if score > WARM_ABOVE else Tier.COLD
