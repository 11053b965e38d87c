from __future__ import annotations

import unicodedata
from functools import cache
from typing import NamedTuple


class Word(NamedTuple):
    """A word as it stands in a text, folded, and the stem by which it meets its inflections."""

    surface: str
    stem: str


def split(text: str) -> tuple[Word, ...]:
    """The words of *text*: runs of letters and digits, without case and Latin diacritics."""
    return tuple(Word(surface, _stem(surface)) for surface in surfaces(text))


def surfaces(text: str) -> list[str]:
    """The folded words of *text*, not stemmed."""
    plain = "".join(map(_without_diacritic, unicodedata.normalize("NFC", text)))
    return "".join(sign if _is_of_a_word(sign) else " " for sign in plain.casefold()).split()


@cache
def _without_diacritic(sign: str) -> str:
    if "\u0300" <= sign <= "\u036f":
        return ""  # a mark that found no letter to be composed with
    base = unicodedata.normalize("NFD", sign)[0]
    return base if base.isascii() and base.isalpha() else sign


@cache
def _is_of_a_word(sign: str) -> bool:
    category = unicodedata.category(sign)
    return category[0] in "LN" or category == "Co"


@cache
def _stem(word: str) -> str:
    # Porter's own programme leaves words of one and two letters alone; the library's would make "a" of "as".
    return word if len(word) < 3 else str(_porter().stemWord(word))


@cache
def _porter():  # type: ignore[no-untyped-def]  # the library has no types
    import snowballstemmer

    return snowballstemmer.stemmer("porter")
