"""Fingerprints of a forgotten document: words and sentences, and how they are found in other texts."""

import re
from collections.abc import Callable, Collection, Iterable

MOST_MARKS = 8
MOST_TRIED = 200  # words, longest first
LEAST_LETTERS = 5
MOST_SENTENCES = 20
LEAST_WORDS = 4

_WORD = re.compile(r"[^\W_]+")
LEAST_CHARACTERS = 40
_LEAST_SHARED = 0.5  # of the sentences of the older text


def identifying_words(texts: Iterable[str], places: str, is_theirs: Callable[[str], bool]) -> list[str]:
    """
    Return up to eight words of *texts*, longest first, for which *is_theirs* reports that no other document has them.

    Words of *places* are left out, because the path of a forgotten document stays stored.
    """
    known = {word.casefold() for word in _WORD.findall(places)}
    names = {word for text in texts for word in _WORD.findall(text) if len(word) >= LEAST_LETTERS}
    longest = sorted((word for word in names if word.casefold() not in known), key=lambda w: (-len(w), w))
    marks = (word for word in longest[:MOST_TRIED] if is_theirs(word))
    return [mark for mark, _ in zip(marks, range(MOST_MARKS), strict=False)]


def sentences_of(text: str, places: Collection[str] = ()) -> list[str]:
    """
    Return the first twenty sentences and lines of *text* with four words or more, in their original spelling.

    A line that only cites one of *places* is left out, because the path of a forgotten document stays stored.
    """
    every = (part.strip() for part in re.split(r"(?<=[.!?])\s+|\n+", text))
    stated = (sentence for sentence in every if sentence.removeprefix("- ") not in places)
    return [sentence for sentence in stated if len(_WORD.findall(sentence)) >= LEAST_WORDS][:MOST_SENTENCES]


def is_recognisable(body: str) -> bool:
    """
    Whether *body* of a forgotten note identifies it in other files: at least 40 characters, blanks collapsed.

    Empty notes and short templates are the same in many unrelated files.
    """
    return len(" ".join(body.split())) >= LEAST_CHARACTERS


def is_earlier_version(older: str, newer: str) -> bool:
    """Whether at least half of the sentences of *older* occur in *newer*."""
    sentences = sentences_of(older)
    repeated = sum(sentence in newer for sentence in sentences)
    return bool(sentences) and repeated >= _LEAST_SHARED * len(sentences)
