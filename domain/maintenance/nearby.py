"""Index of statements for finding those about the same matter without comparing all pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import chain

from clawmem.domain.maintenance.merge_gate import SAME_MATTER, long_words

_WORTH = 3  # counting all words is cheaper up to this multiple of the entries of the prefix


class StatementIndex:
    """
    Inverted index of statements, with the same result as `clawmem.domain.maintenance.merge_gate.is_candidate`.

    Uses prefix filtering: a statement that shares *s* of the *n* words of a text shares at least two of its
    *n* - *s* + 2 rarest words. Only statements that do are compared. If counting all words is hardly more expensive
    than counting these, all are counted, which leaves fewer statements to compare.

    Args:
        statements: Ids and texts.
    """

    def __init__(self, statements: Iterable[tuple[int, str]]) -> None:
        self._words = {number: frozenset(long_words(text)) for number, text in statements}
        self._holding: dict[str, list[int]] = {}
        for number, words in self._words.items():
            for word in words:
                self._holding.setdefault(word, []).append(number)

    def near(self, text: str) -> list[int]:
        """Return the ids of the statements that may be about the same matter as *text*, in ascending order."""
        words = frozenset(long_words(text))
        holding = sorted((self._holding.get(word, []) for word in words), key=len)
        shared = len(words) // 2 + 1  # least number of common words
        least = min(2, shared)
        few = holding[: len(words) - shared + least]
        if sum(map(len, holding)) <= _WORTH * sum(map(len, few)):
            few, least = holding, shared
        held = Counter(chain.from_iterable(few))
        compared = [number for number, count in held.items() if count >= least]
        return sorted(number for number in compared if self._is_near(words, self._words[number]))

    def _is_near(self, words: frozenset[str], other: frozenset[str]) -> bool:
        both = len(words & other)
        return both > SAME_MATTER * (len(words) + len(other) - both)
