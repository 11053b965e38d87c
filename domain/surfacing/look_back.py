"""The question together with those before it: "and when was that?" is found by what "that" is."""

from __future__ import annotations

from collections.abc import Sequence

LOOK_BACK = 2  # questions
MOST_MINUTES = 10  # since they were asked
MOST_CHARS = 2000
# Of the best that prompts find together, given before or not: nothing further behind is added.
LEAST_SHARE = 0.7
# Of the least relevant answer of the prompt alone: what earlier prompts add stays behind it.
ADDED_SHARE = 0.9
APART = "\n\n"


def looking_back(
    current: str, before: Sequence[str], *, look_back: int = LOOK_BACK, most: int = MOST_CHARS
) -> str:
    """
    *current* and up to *look_back* other questions, newest first, with a blank line between.

    Whole questions are dropped, the oldest first, until no more than *most* characters are left; a *current*
    that is longer alone is cut there. One that is empty or equal to *current* is no other question.

    Args:
        before: What was asked before, newest first.
    """
    if not current.strip():
        return current
    others = [text for text in before if text.strip() and text != current][:look_back]
    while others and len(APART.join([current, *others])) > most:
        others.pop()
    return APART.join([current, *others])[:most]
