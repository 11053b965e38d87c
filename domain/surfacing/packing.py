"""Packing of whole passages and whole lines into a token budget, and the tiers that limit the length of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum

from clawmem.domain.text.words import token_count

SEPARATOR = "\n\n---\n\n"

HOT_ABOVE, WARM_ABOVE = 0.8, 0.6
# If the budget is too small for all texts, at least this share goes to texts at the full length of their tier; texts
# after them may be cut to the warm length. Otherwise, if all scores are close, all texts would be hot and few would fit.
FULL_SHARE = 0.5


def pack(count: int, text_of: Callable[[int], str], budget: int) -> int:
    """
    Return how many of the first of *count* parts, best first, fit into *budget*.

    The first part is always included, even if it exceeds the budget.

    Args:
        text_of: Returns the text of the first *n* parts, including all that they add to the block.
        budget: Tokens.
    """
    too_large = (n for n in range(2, count + 1) if token_count(text_of(n)) > budget)
    return next(too_large, count + 1) - 1


def pack_shorter(
    count: int, text_of: Callable[[int, int], str], budget: int, full_budget: int
) -> tuple[int, int]:
    """
    Return how many of *count* parts, best first, fit if later ones may be shortened, and how many stay in full.

    Parts within *full_budget* stay in full. Further parts stay in full as long as no part that fits is lost.

    Args:
        text_of: Returns the text of the first *n* parts, of which the first *m* are in full.
        budget: Tokens for all parts.
        full_budget: Tokens for parts in full; at most *budget*.
    """
    least = pack(count, lambda n: text_of(n, n), full_budget)
    fitting = pack(count, lambda n: text_of(n, min(n, least)), budget)
    fuller = range(fitting, least, -1)
    return fitting, next((full for full in fuller if token_count(text_of(fitting, full)) <= budget), least)


def pack_lines(lines: Iterable[str], budget: int, frame: str = "") -> list[str]:
    """
    Return the first of *lines* that fit into *budget* together with *frame*; none if not even one fits.

    Stops iterating *lines* at the first one that does not fit.

    Args:
        budget: Tokens.
        frame: Text around the lines, such as tags; counted once.
    """
    kept: list[str] = []
    for line in lines:
        if token_count("\n".join([frame, *kept, line])) > budget:
            break
        kept.append(line)
    return kept


class Tier(StrEnum):
    """Tier of an answer; `CHARACTERS` maps tiers to text lengths."""

    HOT = "hot"
    WARM = "warm"
    COLD = "cold"


CHARACTERS = {Tier.HOT: 600, Tier.WARM: 300, Tier.COLD: 0}  # of text; title and place are always shown

FULL_CHARACTERS = 1_500  # of a text for which the budget has room left


def tier_of(score: float) -> Tier:
    """Return the tier of *score*, a share of the best score in [0, 1]; a bound belongs to the lower tier."""
    if score > HOT_ABOVE:
        return Tier.HOT
    return Tier.WARM if score > WARM_ABOVE else Tier.COLD
