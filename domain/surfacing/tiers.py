"""How much of an answer is shown, by how near it comes to the best."""

from __future__ import annotations

from enum import StrEnum

HOT_ABOVE, WARM_ABOVE = 0.8, 0.6


class Tier(StrEnum):
    """How much is shown."""

    HOT = "hot"
    WARM = "warm"
    COLD = "cold"


# Of a budget that does not hold everything this much at least goes to texts as long as their tier allows; behind it they
# may be cut to a warm one's length. Of a list whose scores lie close together all would be hot, and few would fit.
FULL_SHARE = 0.5

CHARACTERS = {Tier.HOT: 300, Tier.WARM: 150, Tier.COLD: 0}  # of text; the title and the place always


def tier_of(score: float) -> Tier:
    """The tier of a share of the best score, in [0, 1]; a bound itself belongs to the lower one."""
    if score > HOT_ABOVE:
        return Tier.HOT
    return Tier.WARM if score > WARM_ABOVE else Tier.COLD
