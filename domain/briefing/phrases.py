"""Repeated phrases: frequent sequences of two or three words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from clawmem.domain.documents.tokens import words
from clawmem.domain.retrieval.query_forms import STOP_WORDS

SHORTEST = 4  # letters of a significant word
LEAST, MOST = 3, 20  # occurrences of a phrase; phrases returned


class Phrase(NamedTuple):
    """A sequence of words and the number of its occurrences."""

    text: str
    times: int


def repeated_phrases(texts: Iterable[str]) -> list[Phrase]:
    """
    Return up to twenty phrases of two or three words that occur three times or more, most frequent first.

    Words of up to three letters and stop words are skipped. Phrases of equal frequency are sorted by number of
    words descending, then alphabetically.
    """
    counts = Counter(phrase for text in texts for phrase in _phrases(_telling(text)))
    often = [(phrase, count) for phrase, count in counts.items() if count >= LEAST]
    often.sort(key=lambda one: (-one[1], -len(one[0]), one[0]))
    return [Phrase(" ".join(phrase), count) for phrase, count in islice(often, MOST)]


def _telling(text: str) -> list[str]:
    return [word for word in words(text) if len(word) >= SHORTEST and word not in STOP_WORDS]


def _phrases(row: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for length in (2, 3):
        yield from (tuple(row[place : place + length]) for place in range(len(row) - length + 1))
