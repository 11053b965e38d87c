"""Spreading activation: what was used together with the best answers rises."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from clawmem.domain.surfacing.tiers import HOT_ABOVE

Key = TypeVar("Key", int, str)

FEWEST = 4  # answers: among three, all are shown whatever their order
SOURCES = 3  # from the top
PARTNERS = 3  # of each, the most frequent first
STEP, MOST = 0.1, 0.2  # for each time, and all told

Partners = Callable[[Key], Sequence[tuple[Key, int]]]


def activation(ranked: Sequence[tuple[Key, float]], partners: Partners[Key]) -> dict[Key, float]:
    """
    What each answer gains.

    The first `SOURCES` spread where they score more than 0.8, each to its first `PARTNERS`; one of these among the answers that
    scores 0.8 or less gains ``min(0.2, 0.1 · times)`` from each.

    Args:
        ranked: Answers with their scores, best first.
        partners: What was used together with an answer and how often, most frequent first.
    """
    scores, gained = dict(ranked), dict.fromkeys((key for key, _ in ranked), 0.0)
    if len(ranked) < FEWEST:
        return gained
    for source, score in ranked[:SOURCES]:
        for partner, times in partners(source)[:PARTNERS] if score > HOT_ABOVE else ():
            if scores.get(partner, 1.0) <= HOT_ABOVE:
                gained[partner] += min(MOST, STEP * times)
    return gained
