"""Diversification of a ranking: near-duplicates are told from the first of their kind."""

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import TypeVar

from clawmem.domain.text.words import words

Item = TypeVar("Item")


def diversify(
    items: Iterable[Item], text_of: Callable[[Item], str], *, threshold: float = 0.6
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
        every = words(text_of(item))
        # Shorter words are mostly function words and do not indicate similarity alone.
        features: frozenset[str | tuple[str, str]] = frozenset(
            [*pairwise(every), *(word for word in every if len(word) > 3)]
        )
        if any(len(features & other) > threshold * len(features | other) for other in known):
            copies.append(item)
        else:
            distinct.append(item)
            known.append(features)
    return distinct, copies
