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
_LOOSE_MARKS = re.compile("[\u0300-\u036f]+")  # diacritics without a composed form, as in ọ̀
_CHARACTERS_A_TOKEN = 4


def token_count(text: str) -> int:
    """Return the number of tokens by the estimate of all budgets: four characters each, rounded up."""
    return -(-len(text) // _CHARACTERS_A_TOKEN)


def normalise(text: str) -> str:
    """
    Return NFKC text without NUL: full-width letters, ligatures and accents have one form.

    A diacritic without a composed form is dropped, because some indexes would end the word there.
    """
    if "\0" not in text and (text.isascii() or _is_normal(text)):
        return text
    bare = _LOOSE_MARKS.sub("", unicodedata.normalize("NFKC", text).replace("\0", " "))
    return unicodedata.normalize("NFKC", bare)  # characters that a dropped mark had separated may now compose


def _is_normal(text: str) -> bool:
    return unicodedata.is_normalized("NFKC", text) and not _LOOSE_MARKS.search(text)


def index_text(text: str) -> str:
    """
    Return *text* for a lexical index: runs of an unspaced script become overlapping pairs.

    ``東京都`` becomes ``東京 京都 都``. Every two-character word inside is one indexed word, and a single character
    is found as the prefix of one. Text in other scripts is unchanged.
    """
    normal = normalise(text)
    if not _holds_unspaced(normal):
        return normal
    return _unspaced_run().sub(lambda run: f" {' '.join([*pairs(run[0]), run[0][-1]])} ", normal)


def words(text: str) -> list[str]:
    """Return the words of *text* in order, in lower case, split at all characters except letters and digits."""
    lower = _LOOSE_MARKS.sub("", normalise(text).lower())  # "İ" becomes "i" and a combining dot
    if not _holds_unspaced(lower):
        return _SPACED_WORD.findall(lower)
    return [word for run in _word().findall(lower) for word in _split(run)]


def pairs(run: str) -> list[str]:
    """Return the overlapping pairs of characters; none for a single character."""
    return [run[i : i + 2] for i in range(len(run) - 1)]


def is_unspaced(word: str) -> bool:
    """Whether *word* belongs to a script written without spaces."""
    return _is_unspaced_sign(word[:1])


def _holds_unspaced(text: str) -> bool:
    if text.isascii():
        return False
    return any(_is_unspaced_sign(sign[0]) for sign in _FROM_FIRST_UNSPACED.finditer(text))


@lru_cache(4096)  # a language has few distinct characters, and these are tested for each text
def _is_unspaced_sign(sign: str) -> bool:
    return sign >= _FIRST_UNSPACED and any(one[0] <= sign <= one[-1] for one in _RANGES)


def _split(run: str) -> list[str]:
    return (pairs(run) or [run]) if is_unspaced(run) else [run]


# Compiled on first use: compiling these ranges takes longer than answering a question.
@cache
def _unspaced_run() -> re.Pattern[str]:
    return re.compile(f"[{_UNSPACED}]+")


@cache
def _word() -> re.Pattern[str]:
    return re.compile(f"[{_UNSPACED}]+|[^\\W_{_UNSPACED}]+")
