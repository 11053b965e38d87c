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


def diversify(
    items: Sequence[Item], text_of: Callable[[Item], str], *, threshold: float = LIKENESS
) -> list[Item]:
    """
    Return *items* with near-duplicates moved to the end: greedy maximal marginal relevance on word similarity.

    Going down the ranking, an item goes to the tail if its Jaccard similarity to a kept item exceeds *threshold* (not
    if it equals it). Kept items and tail preserve their order; nothing is removed. Up to two items are returned
    unchanged. Items without words are similar to none.

    Args:
        items: Best first.
        text_of: Returns title and body of an item.
        threshold: In [0, 1].
    """
    if len(items) <= 2:
        return list(items)
    distinct = without_copies(list(range(len(items))), lambda place: text_of(items[place]), threshold)
    copies = sorted(set(range(len(items))).difference(distinct))
    return [items[place] for place in (*distinct, *copies)]


def without_copies(
    items: Sequence[Item], text_of: Callable[[Item], str], threshold: float = LIKENESS
) -> list[Item]:
    """Return *items* without those whose Jaccard likeness to an earlier one exceeds *threshold*, in their order."""
    distinct: list[Item] = []
    known: list[frozenset[str | tuple[str, str]]] = []
    for item in items:
        words = _WORD.findall(text_of(item).lower())
        features = frozenset([*pairwise(words), *(word for word in words if len(word) >= MIN_WORD)])
        if not any(len(features & other) > threshold * len(features | other) for other in known):
            distinct.append(item)
            known.append(features)
    return distinct
