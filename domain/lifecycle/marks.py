"""By what a forgotten document would be known again: words that it alone holds, and whole sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable

MOST_MARKS = 8
MOST_TRIED = 200  # words, the longest first
LEAST_LETTERS = 5
MOST_SENTENCES = 20
LEAST_WORDS = 4

_WORD = re.compile(r"[^\W_]+")
_END = re.compile(r"(?<=[.!?])\s+|\n+")


def marks_of(texts: Iterable[str], places: str, is_theirs: Callable[[str], bool]) -> list[str]:
    """
    Up to eight words of *texts*, the longest first, that *is_theirs* says nobody else holds.

    Words of *places* are no marks, for the place of a document is kept.
    """
    known = {word.casefold() for word in _WORD.findall(places)}
    found = {word for text in texts for word in _WORD.findall(text) if len(word) >= LEAST_LETTERS}
    longest = sorted((word for word in found if word.casefold() not in known), key=lambda w: (-len(w), w))
    marks = (word for word in longest[:MOST_TRIED] if is_theirs(word))
    return [mark for mark, _ in zip(marks, range(MOST_MARKS), strict=False)]


def sentences_of(text: str, places: Collection[str] = ()) -> list[str]:
    """
    Return the first twenty sentences and lines of *text* that have four words or more, in their own spelling.

    A line that only cites one of *places* is left out, for a place is kept.
    """
    every = (part.strip() for part in _END.split(text))
    said = (one for one in every if one.removeprefix("- ") not in places)
    return [one for one in said if len(_WORD.findall(one)) >= LEAST_WORDS][:MOST_SENTENCES]


def is_code(word: str) -> bool:
    """Whether *word* mixes letters and digits: what no file of a program holds by chance."""
    return not word.isalpha() and not word.isdigit()
