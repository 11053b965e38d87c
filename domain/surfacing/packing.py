"""Packing of whole passages and whole lines into a token budget, and the length of each passage."""

from collections.abc import Callable, Iterable

from clawmem.domain.text.words import token_count

SEPARATOR = "\n\n---\n\n"

HOT_ABOVE, WARM_ABOVE = 0.8, 0.6
FULL_CHARACTERS = 1_500  # of a text for which the budget has room left


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


def pack_lines(lines: Iterable[str], budget: int, frame: str = "") -> list[str]:
    """
    Return the first of *lines* that fit into *budget* together with *frame*; none if not even one fits.

    Stops iterating *lines* at the first one that does not fit.

    Args:
        budget: Tokens.
        frame: Text around the lines, such as tags; counted once.
    """
    packed: list[str] = []
    for line in lines:
        if token_count("\n".join([frame, *packed, line])) > budget:
            break
        packed.append(line)
    return packed


def quoted_characters(score: float) -> int:
    """
    Return how many characters of a text are quoted, by its *score* as a share of the best one.

    Title and place are always shown.
    """
    if score > HOT_ABOVE:
        return 600
    return 300 if score > WARM_ABOVE else 0
