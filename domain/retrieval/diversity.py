"""Diversification of a ranking: near-duplicates are told from the first of their kind."""

import re
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import TypeVar

LIKENESS = 0.6
MIN_WORD = 4  # shorter words are mostly function words and do not indicate similarity alone

# Kana and Han are written without spaces: each character counts as a word, so that their bigrams are compared.
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff"
_WORD = re.compile(f"[{_UNSPACED}]|[^\\W{_UNSPACED}]+")

Item = TypeVar("Item")


def diversify(
    items: Iterable[Item], text_of: Callable[[Item], str], *, threshold: float = LIKENESS
) -> tuple[list[Item], list[Item]]:
    """
    Return the distinct items and the near-duplicates: greedy maximal marginal relevance on word similarity.

    Going down the ranking *items*, best first, an item is a near-duplicate if its Jaccard similarity to a distinct one
    exceeds *threshold*. Both lists preserve their order. Items whose text (title and body) has no words are similar to
    none.
    """
    distinct: list[Item] = []
    copies: list[Item] = []
    known: list[frozenset[str | tuple[str, str]]] = []
    for item in items:
        words = _WORD.findall(text_of(item).lower())
        features = frozenset([*pairwise(words), *(word for word in words if len(word) >= MIN_WORD)])
        if any(len(features & other) > threshold * len(features | other) for other in known):
            copies.append(item)
        else:
            distinct.append(item)
            known.append(features)
    return distinct, copies
