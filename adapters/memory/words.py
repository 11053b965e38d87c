from __future__ import annotations

from functools import cache
from typing import NamedTuple

from clawmem.ports.folding import surfaces


class Word(NamedTuple):
    """A word as it stands in a text, folded, and the stem by which it meets its inflections."""

    surface: str
    stem: str


def split(text: str) -> tuple[Word, ...]:
    """The words of *text*: runs of letters and digits, without case and Latin diacritics."""
    return tuple(Word(surface, _stem(surface)) for surface in surfaces(text))


@cache
def _stem(word: str) -> str:
    # Porter's own programme leaves words of one and two letters alone; the library's would make "a" of "as".
    return word if len(word) < 3 else str(_porter().stemWord(word))


@cache
def _porter():  # type: ignore[no-untyped-def]  # the library has no types
    import snowballstemmer

    return snowballstemmer.stemmer("porter")
