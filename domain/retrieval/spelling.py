"""
Correction of misspelt words of a question against the vocabulary of the vault.

Only words are corrected that no document contains. A short word has many neighbours, so it must differ by less than a long
one, and a neighbour must be in two notes or more: a single one may be a misspelling itself, unless a long word differs
by one edit only.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from clawmem.domain.text.vocabulary import STOP_WORDS
from clawmem.domain.text.words import fold, is_unspaced

SHORT, LONG = 5, 8  # letters
LEAST_NOTES = 2
MOST_CORRECTED = 8  # words of one question; more unknown words are a pasted text or another language
_ENDINGS = ("", "e", "er", "y", "ion", "ing")  # that stems may have lost


class Spelling(NamedTuple):
    """A stored word: the edits that lead to it, and the number of documents that contain it."""

    word: str
    edits: int
    documents: int


def most_edits(word: str, query: str) -> int:
    """
    Return the number of edits by which *word* of *query* may be misspelt; 0 if it is not corrected at all.

    Words with digits are identifiers and stay as they are, and so do words of fewer than five letters.
    """
    if len(word) < SHORT or not word.isalpha() or is_unspaced(word):
        return 0
    return 2 if len(word) >= LONG else 1


def best_spelling(word: str, stem: str, alike: Mapping[str, Spelling]) -> str | None:
    """
    Return the stored word that *word* probably means, or ``None``.

    The fewest edits win, then the most documents. A short word may have a letter too many or too few or two letters in the
    wrong order; another letter makes another word ("house" is not "horse"). A word that begins with the stored word is
    another one as well ("printf", "print").
    """
    fits = [
        spelling
        for spelling in alike.values()
        if (spelling.documents >= LEAST_NOTES or (len(stem) >= LONG and spelling.edits == 1))
        and spelling.word not in STOP_WORDS
        and not word.startswith(spelling.word)
        and (len(stem) >= LONG or _is_slip(spelling.word, (word, stem)))
        and (spelling.edits == 1 or len(stem) > SHORT)
    ]
    best = min(fits, key=lambda spelling: (spelling.edits, -spelling.documents, spelling.word), default=None)
    return best.word if best else None


def _is_slip(meant: str, typed: tuple[str, str]) -> bool:
    same_length = [form for form in typed if len(form) == len(meant)]
    return not same_length or any(sorted(form) == sorted(meant) for form in same_length)


def full_words(word: str, stem: str, corrected: str) -> list[str]:
    """Return the words that the stored form *corrected* may stand for, the one with the ending of *word* first."""
    endings = [word[len(stem) :]] if word.startswith(stem) else []
    every = [f"{corrected}{ending}" for ending in (*endings, *_ENDINGS)]
    if corrected.endswith("i"):
        every.insert(0, f"{corrected[:-1]}y")
    return list(dict.fromkeys(every))


def with_corrections(query: str, corrected: Mapping[str, str]) -> str:
    """Return *query* with each of its words replaced by its correction, if it has one."""
    return re.sub(r"[^\W_]+", lambda match: corrected.get(fold(match[0]), match[0]), query)
