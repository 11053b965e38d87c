"""Queries that combine a prompt with earlier ones, so that "and when was that?" finds what "that" refers to."""

from __future__ import annotations

from collections.abc import Sequence

LOOK_BACK = 2  # questions
MOST_MINUTES = 10  # since they were asked
MOST_CHARS = 2000
# Minimum relevance of an added candidate, as a share of the best candidate of the combined query.
LEAST_SHARE = 0.7
# Maximum relevance of an added candidate, as a share of the least relevant candidate of the prompt alone.
ADDED_SHARE = 0.9
APART = "\n\n"


def looking_back(
    current: str, before: Sequence[str], *, look_back: int = LOOK_BACK, most: int = MOST_CHARS
) -> str:
    """
    Return *current* and up to *look_back* earlier questions, newest first, separated by blank lines.

    Whole questions are dropped, the oldest first, until at most *most* characters are left; a longer *current* is
    truncated. Empty questions and those equal to *current* are ignored.

    Args:
        before: Earlier questions, newest first.
    """
    if not current.strip():
        return current
    others = [text for text in before if text.strip() and text != current][:look_back]
    while others and len(APART.join([current, *others])) > most:
        others.pop()
    return APART.join([current, *others])[:most]
