"""Tokenisation by one rule for documents and queries, so that their words match."""

import re
import unicodedata
from collections.abc import Sequence
from hashlib import sha1
from itertools import pairwise

from clawmem.domain.text.vocabulary import UNINFLECTED

# Scripts written without spaces (Han, Kana, Hangul syllables, Thai, Lao, Khmer, Burmese): their words are indexed
# as overlapping pairs of characters, which needs no dictionary and is exact for two-character words.
_RANGES = (
    "\u0e01-\u0e30 \u0e32-\u0e33 \u0e40-\u0e46 \u0e81-\u0eb0 \u1000-\u102a \u1780-\u17b3 \u3005-\u3007 "
    "\u3041-\u3096 \u309d-\u309f \u30a1-\u30fa \u30fc-\u30ff \u31f0-\u31ff \u3400-\u4dbf \u4e00-\u9fff "
    "\uac00-\ud7a3 \uf900-\ufaff \U00020000-\U0003ffff"
).split()
_UNSPACED = re.compile(f"[{''.join(_RANGES)}]+")
_ASCII_WORD = re.compile("[^\\W_]+")
_WORD = re.compile(f"[{''.join(_RANGES)}]+|[^\\W_{''.join(_RANGES)}]+")
# Signs that belong to a name: "C++" and "C#" are not "C".
_SIGNS = {"++": "plusplus", "#": "sharp", ".": "dot"}
# The sign comes before what must precede it, because a pattern that begins with a set of characters is searched for faster.
_SIGN = re.compile(r"[+#.](?:(?<=[^\W_]\+)\+(?![^\W_])|(?<=\b[A-Za-z]#)(?![\w#])|(?<![\w.]\.)(?=(?i:NET)\b))")
_SEPARATED = bytes(code if chr(code).isalnum() else 32 for code in range(128)).ljust(256)  # of bytes
# That a stemmer takes off, and by which it decides.
_ENDINGS, _VOWELS = ("e", "s", "es", "ed", "ing"), "aeiouy"
CHARACTERS_A_TOKEN = 4  # the estimate of all budgets
# Unicode's Default_Ignorable_Code_Point, apart from the selectors of variants; for a set of a pattern.
IGNORABLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff"
    "\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
# Marks that are written with a letter, and letters between them; for a set of a pattern.
MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1-\u05c2\u05c4-\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06ed\u0711-\u07f3\u07fd-\u082d\u0859-\u085b\u0898-\u0963\u0981-\u09e3\u09fe-\u0a75\u0a81-\u0ae3\u0afa-\u0c63"
    "\u0c81-\u0c83\u0cbc-\u0df3\u0e31-\u0e4e\u0eb1-\u0ecd\u0f18-\u0f39\u0f3e-\u0f84\u0f86-\u0fc6\u102b-\u103e\u1056-\u109d"
    "\u135d-\u135f\u1712-\u1734\u1752-\u17d3\u17dd\u180b-\u193b\u1a17-\u1a1b\u1a55-\u1a7f\u1ab0-\u1b44\u1b6b-\u1b73"
    "\u1b80-\u1bf3\u1c24-\u1c37\u1cd0-\u1cd2\u1cd4-\u1dff\u20d0-\u20f0\u302a-\u302f\u3099-\u309a\ua802-\uabed"
)
WRITTEN = rf"(?:[^\W_]|[{MARKS}])+"
INVISIBLE = re.compile(f"[{IGNORABLE}\ufe00-\ufe0f]")
# Signs of other scripts that end a sentence, also without a blank after them.
FULL_STOPS = "。！？｡।॥؟۔։።။។༎"
# Blocks of emoji; of their characters, those of the category "other symbols" are words.
_PICTURE = re.compile("[\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]")
_SOUND = 8  # the combining class of the marks of Kana that make another letter
# Letters of other languages, and the Arabic or Latin letters in their place.
_LOCAL = {
    "ETH": "D",
    "THORN": "TH",
    "KEHEH": "KAF",
    "FARSI YEH": "YEH",
    "ALEF MAKSURA": "YEH",
    "TEH MARBUTA": "HEH",
    "HEH GOAL": "HEH",
    "ALEF WASLA": "ALEF",
}


def _letter(name: str) -> str:
    """Return the letter called *name* in Unicode; nothing if there is none."""
    try:
        return unicodedata.lookup(name)
    except KeyError:
        return ""


class _Visible(dict[int, str]):
    """
    Characters as words have them; each is computed at its first use.

    Those that are not seen are left out, digits are European ones, and the vowel signs of a syllable are letters.
    """

    def __missing__(self, code: int) -> str:
        self[code] = shown = self.form(chr(code))
        return shown

    def form(self, sign: str) -> str:
        """Return the form of *sign*, which may be empty."""
        category = unicodedata.category(sign)
        if category == "Cf" or sign == "\u0640" or INVISIBLE.match(sign):  # the tatweel makes a word longer
            return ""
        if category[0] == "M" and unicodedata.combining(sign) != _SOUND:  # a mark without a composed form
            script, _, vowel = unicodedata.name(sign, "").partition(" VOWEL SIGN ")
            return _letter(f"{script} LETTER {vowel}")
        if category == "Nd":
            return str(unicodedata.digit(sign))
        return {"\0": " ", "\u02bc": "'"}.get(sign, sign)


class _Folded(_Visible):
    """Characters also without their marks and local forms; the names of letters tell those that do not decompose."""

    def form(self, sign: str) -> str:
        """Return the letters that *sign* stands for in a search."""
        name = re.sub(r"(?:DOTLESS|FINAL) | WITH .*", "", unicodedata.name(sign, ""))
        script, _, letter = name.replace("SMALL LIGATURE", "SMALL LETTER").partition(" LETTER ")
        letter = _LOCAL.get(letter, letter)
        if script == "LATIN SMALL" and len(letter) == len("AE"):
            return letter.lower()
        if script == "MODIFIER":  # such as the half ring of "Kaʿba"
            return ""
        return (_letter(f"{script} LETTER {letter}") or sign) if letter else super().form(sign)


_VISIBLE, _FOLDED = _Visible(), _Folded()


def token_count(text: str) -> int:
    """Return the number of tokens by the estimate of all budgets: four characters each, rounded up."""
    return -(-len(text) // CHARACTERS_A_TOKEN)


def text_width(text: str) -> int:
    """Return the number of characters, of which those of two cells, such as Chinese ones, count twice."""
    return len(text) + sum(unicodedata.east_asian_width(character) in "WF" for character in text)


def normalise(text: str) -> str:
    """
    Return *text* as it is read, without NUL: NFKC with letters and digits in one form.

    Full-width letters, ligatures and accents have one form, and digits of other scripts become European ones. Invisible
    characters and marks without a composed form are dropped, because some indexes would end the word there.
    """
    if text.isascii() and "\0" not in text:
        return text
    # Characters that a dropped mark had separated may compose afterwards.
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).translate(_VISIBLE))


def fold(text: str) -> str:
    """
    Return *text* as indexes compare it, in lower case: without accents, vowel signs and variants of letters.

    "Straße" becomes "strasse", "Ærø" "aero", "Ἀθῆναι" "αθηναι" and "ёлка" "елка"; the rules are Unicode's own data.
    """
    if text.isascii():
        return normalise(text).lower()
    decomposed = unicodedata.normalize("NFKD", normalise(text).casefold())
    return unicodedata.normalize("NFKC", decomposed.translate(_FOLDED))


def slug(text: str) -> str:
    """Return *text* as a part of a path: composed, in lower case, with a hyphen for each run of other characters than of words."""
    return re.sub(f"[^\\w{MARKS}]+", "-", unicodedata.normalize("NFC", text.lower())).strip("-_")


MOST_AT_ONCE = 65_536  # characters that are divided into words
# Forms of function words in an index.
FUNCTION_FORMS = {fold(word): f"{fold(word)}qx" for word in UNINFLECTED if len(word) > 1}


def index_text(text: str) -> str:
    """
    Return *text* for a lexical index: folded, and runs of an unspaced script as overlapping pairs.

    ``東京都`` becomes ``東京 京都 都``. Every two-character word inside is one indexed word, and a single character
    is found as the prefix of one. Emoji and the signs of names such as ``C++``, ``C#`` and ``.NET`` are spelled out.
    Function words have a form that is no stem of another word; see `search_text`.
    """
    folded = fold(_with_signs(normalise(text)))
    if folded.isascii():
        separate, end, parts = folded.encode().translate(_SEPARATED).decode(), 0, list[str]()
        while end < len(separate):  # a list of all words of a megabyte takes fifty
            start, end = end, end + MOST_AT_ONCE
            end = separate.find(" ", end) if end < len(separate) else end
            every = separate[start : end if end > 0 else (end := len(separate))].split()
            parts.append(" ".join(map(FUNCTION_FORMS.get, every, every)))
        return " ".join(parts)
    pairs = _UNSPACED.sub(lambda run: f" {' '.join([*map(''.join, pairwise(run[0])), run[0][-1]])} ", folded)
    return _in_function_forms(pairs)


def search_text(text: str) -> str:
    """
    Return the words of a question as `index_text` has them: folded, and function words in their own form.

    The stem of "Ines" is "in", and that of "canned" is "can": a search for them would find the function words.
    """
    return _in_function_forms(fold(text))


def _in_function_forms(folded: str) -> str:
    return _ASCII_WORD.sub(lambda match: FUNCTION_FORMS.get(match[0], match[0]), folded)


def has_function_stem(word: str) -> bool:
    """Whether the stem of *word*, which is none itself, is a function word: "ines", "wills", "canned", but not "note"."""
    for ending in _ENDINGS:
        stem = word.removesuffix(ending)
        # The stem of "note" and "noted" is "note".
        is_closed = [letter in _VOWELS for letter in stem[-3:]] == [False, True, False] and stem[
            -1
        ] not in "wx"
        is_doubled = stem[-2:-1] == stem[-1:] and stem[:-1] in FUNCTION_FORMS
        if stem != word and (is_doubled or (stem in FUNCTION_FORMS and not (is_closed and ending != "s"))):
            return word not in FUNCTION_FORMS
    return False


def words(text: str) -> list[str]:
    """Return the words of *text* in order, in lower case, split at all characters except letters and digits."""
    lower = normalise(_with_signs(normalise(text)).lower())  # "İ" becomes "i" and a combining dot
    if lower.isascii():
        return _ASCII_WORD.findall(lower)
    return [
        word
        for run in _WORD.findall(lower)
        for word in (map("".join, pairwise(run)) if len(run) > 1 and is_unspaced(run) else (run,))
    ]


def written_words(text: str) -> list[str]:
    """Return the words of *text* in order as they are written, with their marks."""
    return re.findall(WRITTEN, text)


def is_unspaced(word: str) -> bool:
    """Whether *word* belongs to a script written without spaces."""
    return _UNSPACED.match(word) is not None


def is_picture(word: str) -> bool:
    """Whether *word* stands for an emoji or another picture."""
    return word.startswith("emoji") and word[5:].isdigit()


def _with_signs(text: str) -> str:
    if "++" in text or "#" in text or ".NET" in text or ".net" in text:
        text = _SIGN.sub(lambda sign: _SIGNS[sign[0]], text)
    if text.isascii():
        return text
    # A number in the end is no ending that a stemmer takes off.
    return _PICTURE.sub(
        lambda sign: f" emoji{ord(sign[0])} " if unicodedata.category(sign[0]) == "So" else sign[0], text
    )


def query_hash(query: str) -> str:
    """Return 12 hex digits that identify a question, ignoring case and surrounding blanks."""
    normalized = query.strip().lower().encode("utf-8", "surrogatepass")
    return sha1(normalized, usedforsecurity=False).hexdigest()[:12]


def joined_words(every: Sequence[str]) -> frozenset[str]:
    """Return each two to four adjacent words of *every* as one: "apkexpires" for "apk expires"."""
    ends = ((start, start + count) for start in range(len(every)) for count in (2, 3, 4))
    return frozenset("".join(every[start:end]) for start, end in ends if end <= len(every))
