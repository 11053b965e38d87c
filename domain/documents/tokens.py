"""How text becomes words. One rule for what is indexed and for what is asked, so that they always meet."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

# Scripts written without spaces (Han, Kana, Hangul syllables, Thai, Lao, Khmer, Burmese): their words are
# found by overlapping pairs of characters, which needs no dictionary and loses nothing on two-character words.
_RANGES = (
    "\u0e01-\u0e30 \u0e32-\u0e33 \u0e40-\u0e46 \u0e81-\u0eb0 \u1000-\u102a \u1780-\u17b3 \u3005-\u3007 "
    "\u3041-\u3096 \u309d-\u309f \u30a1-\u30fa \u30fc-\u30ff \u31f0-\u31ff \u3400-\u4dbf \u4e00-\u9fff "
    "\uac00-\ud7a3 \uf900-\ufaff \U00020000-\U0003ffff"
).split()
_UNSPACED = "".join(_RANGES)
_FIRST_UNSPACED = _UNSPACED[0]
_SPACED_WORD = re.compile("[^\\W_]+")
_LOOSE_MARKS = re.compile("[\u0300-\u036f]+")  # diacritics that no letter is composed with, as in ọ̀
_CHARACTERS_A_TOKEN = 4


def token_count(text: str) -> int:
    """Tokens by the convention used for every budget here: four characters each, rounded up."""
    return -(-len(text) // _CHARACTERS_A_TOKEN)


def normalise(text: str) -> str:
    """
    Compatibility-composed (NFKC) text without NUL: full-width letters, ligatures and accents in one form.

    A diacritic that has no composed form is dropped: some indexes would end the word there, others not.
    """
    if text.isascii() and "\0" not in text:
        return text
    bare = _LOOSE_MARKS.sub("", unicodedata.normalize("NFKC", text).replace("\0", " "))
    return unicodedata.normalize("NFKC", bare)  # what stood apart because of a mark may now compose


def index_text(text: str) -> str:
    """
    *text* as a lexical index should see it: runs of an unspaced script become overlapping pairs.

    ``東京都`` becomes ``東京 京都 都``: every two-character word inside is one indexed word, and a single
    character is found as the beginning of one. Other scripts pass unchanged.
    """
    normal = normalise(text)
    if not _holds_unspaced(normal):
        return normal
    return _unspaced_run().sub(lambda run: f" {' '.join([*pairs(run[0]), run[0][-1]])} ", normal)


def words(text: str) -> list[str]:
    """The words of *text* in order, lower case, split at everything that is neither letter nor digit."""
    lower = _LOOSE_MARKS.sub("", normalise(text).lower())  # İ falls into i and a loose dot
    if not _holds_unspaced(lower):
        return _SPACED_WORD.findall(lower)
    return [word for run in _word().findall(lower) for word in _split(run)]


def pairs(run: str) -> list[str]:
    """Overlapping pairs of characters; nothing for a single one."""
    return [run[i : i + 2] for i in range(len(run) - 1)]


def is_unspaced(word: str) -> bool:
    """Whether *word* belongs to a script written without spaces."""
    return _is_unspaced_sign(word[:1])


def _holds_unspaced(text: str) -> bool:
    # Of signs beyond Latin, dashes and quotation marks for example, a text has few different ones.
    return not text.isascii() and any(map(_is_unspaced_sign, set(text)))


def _is_unspaced_sign(sign: str) -> bool:
    return sign >= _FIRST_UNSPACED and any(one[0] <= sign <= one[-1] for one in _RANGES)


def _split(run: str) -> list[str]:
    return (pairs(run) or [run]) if is_unspaced(run) else [run]


# Compiled when the first text of such a script asks for them: so many ranges take longer than a question does.
@cache
def _unspaced_run() -> re.Pattern[str]:
    return re.compile(f"[{_UNSPACED}]+")


@cache
def _word() -> re.Pattern[str]:
    return re.compile(f"[{_UNSPACED}]+|[^\\W_{_UNSPACED}]+")
