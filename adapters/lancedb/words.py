"""How text becomes words here: folded and stemmed before the engine sees it, as the vault's own index does it."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from clawmem.ports.lexical_index import TITLE_WEIGHT

# A letter of one single manuscript. Texts lose it, so that it stands between the parts of an entry and nowhere else.
BOUNDARY = "ꙮ"

_ASCII_WORD = re.compile("[0-9a-z]+")


def written(title: str, text: str) -> str:
    """
    What is indexed of an entry: its title as often as it weighs, then its text, with boundaries between.

    There is a space before and behind each word, so that a filter finds whole words and beginnings.
    """
    parts = [*([stems(title)] * TITLE_WEIGHT if title else []), stems(text)]
    return f" {f' {BOUNDARY} '.join(' '.join(part) for part in parts)} "


def stems(text: str) -> list[str]:
    """The words of *text* in order, folded and stemmed."""
    return [_stem(word) for word in _surfaces(text)]


def _surfaces(text: str) -> list[str]:
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    plain = "".join(map(_without_diacritic, unicodedata.normalize("NFC", text)))
    return "".join(sign if _is_of_a_word(sign) else " " for sign in plain.casefold()).split()


@cache
def _without_diacritic(sign: str) -> str:
    if "\u0300" <= sign <= "\u036f":
        return ""
    base = unicodedata.normalize("NFD", sign)[0]
    return base if base.isascii() and base.isalpha() else sign


@cache
def _is_of_a_word(sign: str) -> bool:
    category = unicodedata.category(sign)
    return sign != BOUNDARY and (category[0] in "LN" or category == "Co")


@cache
def _stem(word: str) -> str:
    # Porter's own programme leaves words of one and two letters alone; the library's would make "a" of "as".
    return word if len(word) < 3 else str(_porter().stemWord(word))


@cache
def _porter():  # type: ignore[no-untyped-def]  # the library has no types
    import snowballstemmer

    return snowballstemmer.stemmer("porter")
