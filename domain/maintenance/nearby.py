"""Which of many statements one may be about the same as, without comparing it with each of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import chain

from clawmem.domain.maintenance.merge_gate import SAME_MATTER, jaccard, long_words


class Nearby:
    """
    Statements by their words; finds those that `clawmem.domain.maintenance.merge_gate.is_candidate` finds.

    Two statements that share more than half of their words share two of the rarer ones of either, a word more than
    half of them: only what holds two of those is compared.

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
        shared = len(words) // 2 + 1  # words at least
        least = min(2, shared)
        rarest = sorted(words, key=lambda word: len(self._holding.get(word, ())))[
            : len(words) - shared + least
        ]
        held = Counter(chain.from_iterable(self._holding.get(word, ()) for word in rarest))
        compared = (number for number, count in held.items() if count >= least)
        return sorted(n for n in compared if jaccard(words, self._words[n]) > SAME_MATTER)
