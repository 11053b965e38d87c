"""Spreading activation: documents that were used together with the best answers move up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from clawmem.domain.surfacing.packing import HOT_ABOVE

Key = TypeVar("Key", int, str)
Partners = Callable[[Key], Sequence[tuple[Key, int]]]

FEWEST = 4  # answers: up to three are all shown, so their order does not matter
SOURCES = 3  # answers from the top that spread activation
PARTNERS = 3  # partners of each source, the most frequent first
STEP, MOST_GAIN = 0.1, 0.2  # gain per joint use, and maximum gain from one source


def activation(ranked: Sequence[tuple[Key, float]], partners: Partners[Key]) -> dict[Key, float]:
    """
    Return the score gain of each answer by spreading activation: documents used together with the best ones gain.

    Each of the first `SOURCES` answers that scores more than 0.8 spreads to its first `PARTNERS`. A partner that is
    itself an answer and scores 0.8 or less gains ``min(0.2, 0.1 · times)`` from each such source.

    Args:
        ranked: Answers with their scores, best first.
        partners: Returns the items used together with an answer and how often, most frequent first.
    """
    scores, gains = dict(ranked), dict.fromkeys((key for key, _ in ranked), 0.0)
    if len(ranked) < FEWEST:
        return gains
    for source, score in ranked[:SOURCES]:
        for partner, times in partners(source)[:PARTNERS] if score > HOT_ABOVE else ():
            if scores.get(partner, 1.0) <= HOT_ABOVE:
                gains[partner] += min(MOST_GAIN, STEP * times)
    return gains
