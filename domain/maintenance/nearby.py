"""Which of many statements one may be about the same as, without comparing it with each of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import chain

from clawmem.domain.maintenance.merge_gate import SAME_MATTER, long_words

_WORTH = 3  # times as many words counted cost no more than comparing what is found by fewer


class Nearby:
    """
    Statements by their words; finds those that `clawmem.domain.maintenance.merge_gate.is_candidate` finds.

    Two statements that share more than half of their words share *k* of the rarer ones of either, for any *k* up to
    a word more than half of them, if so many more of these are looked at. With few of them few statements are looked
    at twice, which is quick where there are many words; where the same words are everywhere, all of them are counted
    at once, and what two statements share is known without comparing them.

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
        """The ids of the statements that may be about the same as *text*, in ascending order."""
        words = frozenset(long_words(text))
        holding = sorted((self._holding.get(word, []) for word in words), key=len)
        shared = len(words) // 2 + 1  # words at least
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
