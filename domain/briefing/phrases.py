"""What is said again and again: two or three words that follow each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from clawmem.domain.documents.tokens import words
from clawmem.domain.retrieval.query_forms import STOP_WORDS

SHORTEST = 4  # letters of a word that says something
LEAST, MOST = 3, 20  # times that it is said; phrases that are told


class Phrase(NamedTuple):
    """Words in their order, and how often they stand so."""

    text: str
    times: int


def repeated_phrases(texts: Iterable[str]) -> list[Phrase]:
    """
    Up to twenty phrases of two or three words that stand three times or more, the most frequent first.

    Words of up to three letters and stop words are passed over. Of equally frequent phrases the longer ones come
    first, then by their letters.
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
