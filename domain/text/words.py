"""Tokenisation by one rule for documents and queries, so that their words match."""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache

# Scripts written without spaces (Han, Kana, Hangul syllables, Thai, Lao, Khmer, Burmese): their words are indexed
# as overlapping pairs of characters, which needs no dictionary and is exact for two-character words.
_RANGES = (
    "\u0e01-\u0e30 \u0e32-\u0e33 \u0e40-\u0e46 \u0e81-\u0eb0 \u1000-\u102a \u1780-\u17b3 \u3005-\u3007 "
    "\u3041-\u3096 \u309d-\u309f \u30a1-\u30fa \u30fc-\u30ff \u31f0-\u31ff \u3400-\u4dbf \u4e00-\u9fff "
    "\uac00-\ud7a3 \uf900-\ufaff \U00020000-\U0003ffff"
).split()
_UNSPACED = "".join(_RANGES)
_FIRST_UNSPACED = _UNSPACED[0]
_FROM_FIRST_UNSPACED = re.compile(
    f"[{_FIRST_UNSPACED}-\U0010ffff]"
)  # also the dashes and quotes of other scripts
_SPACED_WORD = re.compile("[^\\W_]+")
# Signs that belong to a name: "C++" and "C#" are not "C".
_SIGNS = {"++": "plusplus", "#": "sharp", ".": "dot"}
# The sign comes before what must precede it, because a pattern that begins with a set of characters is searched for faster.
_SIGN = re.compile(r"[+#.](?:(?<=[^\W_]\+)\+(?![^\W_])|(?<=\b[A-Za-z]#)(?![\w#])|(?<![\w.]\.)(?=NET\b))")
_LEAST_MARK = 10  # combining class of marks that may be left out; lower ones are parts of Indic syllables
_CHARACTERS_A_TOKEN = 4


class _Folding(dict[int, str]):
    """Characters as a search compares them, from Unicode's own data; each is computed at its first use."""

    def __missing__(self, code: int) -> str:
        sign = chr(code)
        category, name = unicodedata.category(sign), unicodedata.name(sign, "")
        base = name.partition(" WITH ")[0].replace("DOTLESS ", "")
        folded = sign
        if sign == "\0":
            folded = " "
        elif category == "Cf" or name == "ARABIC TATWEEL" or unicodedata.combining(sign) >= _LEAST_MARK:
            folded = ""  # invisible, or a mark without a composed form
        elif category == "Nd":
            folded = str(unicodedata.digit(sign))
        elif category in ("Ll", "Lu") and "LATIN" in name and not unicodedata.decomposition(sign):
            try:
                folded = unicodedata.lookup(base) if base != name else sign
            except KeyError:
                folded = sign
        self[code] = folded
        return folded


_FOLDED = _Folding()


def token_count(text: str) -> int:
    """Return the number of tokens by the estimate of all budgets: four characters each, rounded up."""
    return -(-len(text) // _CHARACTERS_A_TOKEN)


def normalise(text: str) -> str:
    """
    Return *text* as a search compares it, without NUL: NFKC with letters and digits in one form.

    Full-width letters, ligatures and accents have one form, digits of other scripts become European ones, and letters
    with a stroke or without a dot become the plain ones ("ø", "ł", "ı"). Invisible characters and marks without a composed
    form are dropped, because some indexes would end the word there.
    """
    if text.isascii() and "\0" not in text:
        return text
    # Characters that a dropped mark had separated may compose afterwards.
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).translate(_FOLDED))


def index_text(text: str) -> str:
    """
    Return *text* for a lexical index: runs of an unspaced script become overlapping pairs.

    ``東京都`` becomes ``東京 京都 都``. Every two-character word inside is one indexed word, and a single character
    is found as the prefix of one. The signs of names such as ``C++``, ``C#`` and ``.NET`` are spelled out.
    """
    normal = _with_signs(normalise(text))
    if not _holds_unspaced(normal):
        return normal
    return _unspaced_run().sub(lambda run: f" {' '.join([*pairs(run[0]), run[0][-1]])} ", normal)


def words(text: str) -> list[str]:
    """Return the words of *text* in order, in lower case, split at all characters except letters and digits."""
    lower = normalise(_with_signs(normalise(text)).lower())  # "İ" becomes "i" and a combining dot
    if not _holds_unspaced(lower):
        return _SPACED_WORD.findall(lower)
    return [word for run in _word().findall(lower) for word in _split(run)]


def plain(word: str) -> str:
    """Return *word* without diacritics."""
    if word.isascii():
        return word
    return "".join(sign for sign in unicodedata.normalize("NFD", word) if not unicodedata.combining(sign))


def pairs(run: str) -> list[str]:
    """Return the overlapping pairs of characters; none for a single character."""
    return [run[i : i + 2] for i in range(len(run) - 1)]


def is_unspaced(word: str) -> bool:
    """Whether *word* belongs to a script written without spaces."""
    return _is_unspaced_sign(word[:1])


def _with_signs(text: str) -> str:
    return _SIGN.sub(lambda sign: _SIGNS[sign[0]], text)


def _holds_unspaced(text: str) -> bool:
    if text.isascii():
        return False
    return any(_is_unspaced_sign(sign[0]) for sign in _FROM_FIRST_UNSPACED.finditer(text))


@lru_cache(4096)  # a language has few distinct characters, and these are tested for each text
def _is_unspaced_sign(sign: str) -> bool:
    return sign >= _FIRST_UNSPACED and any(text[0] <= sign <= text[-1] for text in _RANGES)


def _split(run: str) -> list[str]:
    return (pairs(run) or [run]) if is_unspaced(run) else [run]


# Compiled on first use: compiling these ranges takes longer than answering a question.
@cache
def _unspaced_run() -> re.Pattern[str]:
    return re.compile(f"[{_UNSPACED}]+")


@cache
def _word() -> re.Pattern[str]:
    return re.compile(f"[{_UNSPACED}]+|[^\\W_{_UNSPACED}]+")
