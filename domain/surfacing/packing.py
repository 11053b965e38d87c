"""What fits: whole passages and whole lines, never a part of one."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from clawmem.domain.documents.tokens import token_count

SEPARATOR = "\n\n---\n\n"


def pack(count: int, text_of: Callable[[int], str], budget: int) -> int:
    """
    How many of *count* parts fit, best first: up to the first that does not.

    The first fits always: a budget too small for anything shall not silence the best answer.

    Args:
        text_of: What the first so many parts amount to, with everything that they bring along.
        budget: Tokens.
    """
    too_large = (n for n in range(2, count + 1) if token_count(text_of(n)) > budget)
    return next(too_large, count + 1) - 1


def pack_shorter(
    count: int, text_of: Callable[[int, int], str], budget: int, full_budget: int
) -> tuple[int, int]:
    """
    How many of *count* parts fit, best first, where those behind *full_budget* may be shorter, and how many stay in full.

    As many as can be without losing a part that fits.

    Args:
        text_of: What the first so many parts amount to, of which the first so many stay in full.
        budget: Tokens; *full_budget* no more of them.
    """
    least = pack(count, lambda n: text_of(n, n), full_budget)
    fitting = pack(count, lambda n: text_of(n, min(n, least)), budget)
    fuller = range(fitting, least, -1)
    return fitting, next((full for full in fuller if token_count(text_of(fitting, full)) <= budget), least)


def pack_lines(lines: Iterable[str], budget: int, frame: str = "") -> list[str]:
    """
    The first of *lines* that fit together with what stands around them; none where not even one does.

    No more of them are asked for than that takes.

    Args:
        budget: Tokens.
        frame: What stands around them, as text; it is counted once.
    """
    kept: list[str] = []
    for line in lines:
        if token_count("\n".join([frame, *kept, line])) > budget:
            break
        kept.append(line)
    return kept
