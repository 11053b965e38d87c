from __future__ import annotations

from functools import cache
from typing import NamedTuple

from clawmem.ports.folding import surfaces


class Word(NamedTuple):
    """A folded word as it occurs in a text, and its stem, which it shares with its inflections."""

    surface: str
    stem: str


def split(text: str) -> tuple[Word, ...]:
    """Return the words of *text*: runs of letters and digits, without case and Latin diacritics."""
    return tuple(Word(surface, _stem(surface)) for surface in surfaces(text))


@cache
def _stem(word: str) -> str:
    # Porter's original program leaves words of one and two letters unchanged; the library would stem "as" to
    # "a".
    return word if len(word) < 3 else str(_porter().stemWord(word))


@cache
def _porter():  # type: ignore[no-untyped-def]  # the library has no types
    import snowballstemmer

    return snowballstemmer.stemmer("porter")
