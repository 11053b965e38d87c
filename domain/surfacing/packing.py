"""Packing of whole passages and whole lines into a token budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from clawmem.domain.documents.tokens import token_count

SEPARATOR = "\n\n---\n\n"


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
