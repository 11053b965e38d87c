"""Word definition shared by all lexical indexes: a run of letters and digits, without case and Latin diacritics."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

_ASCII_WORD = re.compile("[0-9a-z]+")


def surfaces(text: str) -> list[str]:
    """Return the words of *text*, folded to lower case without diacritics, but not stemmed."""
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    plain = "".join(map(_without_diacritic, unicodedata.normalize("NFC", text)))
    return "".join(sign if _is_of_a_word(sign) else " " for sign in plain.casefold()).split()


@cache
def _without_diacritic(sign: str) -> str:
    if "\u0300" <= sign <= "\u036f":
        return ""  # a combining mark that did not compose with a letter
    base = unicodedata.normalize("NFD", sign)[0]
    return base if base.isascii() and base.isalpha() else sign


@cache
def _is_of_a_word(sign: str) -> bool:
    category = unicodedata.category(sign)
    return category[0] in "LN" or category == "Co"
