"""Diversification of a ranking by moving near-duplicates to its end."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeVar

LIKENESS = 0.6
MIN_WORD = 4  # shorter words are mostly function words and do not indicate similarity alone

# Kana and Han are written without spaces: each character counts as a word, so that their bigrams are compared.
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff"
_WORD = re.compile(f"[{_UNSPACED}]|[^\\W{_UNSPACED}]+")

Item = TypeVar("Item")
Features = frozenset[str | tuple[str, str]]


def diversify(
    items: Sequence[Item],
    text_of: Callable[[Item], str],
    *,
    threshold: float = LIKENESS,
    enough: int | None = None,
) -> list[Item]:
    """
    Return *items* with near-duplicates moved to the end: greedy maximal marginal relevance on word similarity.

    Going down the ranking, an item goes to the tail if its Jaccard similarity to a kept item exceeds *threshold* (not
    if it equals it). Kept items and tail preserve their order; nothing is removed. Up to two items are returned
    unchanged. Items without words are similar to none.

    Args:
        items: Best first.
        text_of: Returns title and body of an item; called at most once per item.
        threshold: In [0, 1].
        enough: Stop comparing once this many are kept; the remaining items stay before the tail. The first *enough*
            items do not depend on it.

    Raises:
        ValueError: *threshold* is outside [0, 1].
    """
    if not 0 <= threshold <= 1:
        raise ValueError(f"threshold must lie in [0, 1], not {threshold}")
    if len(items) <= 2:
        return list(items)
    distinct, copies, rest = _separated(items, text_of, threshold, enough)
    return [*distinct, *rest, *copies]


def without_copies(
    items: Sequence[Item], text_of: Callable[[Item], str], *, threshold: float = LIKENESS
) -> list[Item]:
    """Return *items* without those whose Jaccard likeness to an earlier one exceeds *threshold*, in their order."""
    return _separated(items, text_of, threshold, None)[0]


def _separated(
    items: Sequence[Item], text_of: Callable[[Item], str], threshold: float, enough: int | None
) -> tuple[list[Item], list[Item], Sequence[Item]]:
    """Return the items that are like no earlier one, their near-duplicates, and those after *enough* of the first."""
    distinct: list[Item] = []
    copies: list[Item] = []
    known: list[Features] = []
    for place, item in enumerate(items):
        if enough is not None and len(distinct) >= enough:
            return distinct, copies, items[place:]
        features = _features(text_of(item))
        if any(_is_alike(features, other, threshold) for other in known):
            copies.append(item)
        else:
            distinct.append(item)
            known.append(features)
    return distinct, copies, ()


def _features(text: str) -> Features:
    """Return the word pairs of *text* and its longer words."""
    words = _WORD.findall(text.lower())
    return frozenset([*pairwise(words), *(word for word in words if len(word) >= MIN_WORD)])


def _is_alike(left: Features, right: Features, threshold: float) -> bool:
    """Whether the Jaccard similarity exceeds *threshold*; very different sizes rule it out without comparing."""
    small, large = sorted((len(left), len(right)))
    if small <= threshold * large:
        return False
    shared = len(left & right)
    return shared > threshold * (small + large - shared)
