"""
Correction of misspelt words of a question against the vocabulary of the vault.

Only words are corrected that neither a document nor an English dictionary contains: the dictionary knows many words that
are similar to those of a vault ("wheat", "what"). A short word has many neighbours, so it must differ by less than a long one.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from hashlib import blake2b
from pkgutil import get_data
from typing import NamedTuple

from clawmem.domain.text.words import words

SHORT, LONG = 5, 8  # letters
MOST_CORRECTED = 8  # words of one question; more unknown words are a pasted text or another language

# Function words of other languages, in which the dictionary and the vault lack most words. None of them is English.
_FOREIGN = frozenset(
    """
    der das den dem und ist wie wann wo wer wenn nicht ein eine einen mein meine unser wir ich mit für auf zum zur wird
    waren haben hatte sind welche welcher welches warum wieso wohin wem wen unsere unser seine ihre kein keine beim vom
    le les des du est et où quand qui quel quelle quels quelles mon notre nous avec pour dans sur une
    el los las una qué cómo dónde cuándo cuál está es del mi nuestro con por para y
    os um uma onde quando quem qual é nosso nossa com não
    il gli di che è dove chi quanto de het een van hoe waar wanneer wie
    """.split()
)
_NAME = re.compile(r"(?<=[^\s.?!:]\s)[A-ZÀ-Þ]\w")
_ENDINGS = ("", "e", "er", "y", "ion", "ation", "al", "ing")  # that stems may have lost
_WORD_END = re.compile(r"\w*")


class Spelling(NamedTuple):
    """A stored word: the edits that lead to it, and the number of documents that contain it."""

    word: str
    edits: int
    documents: int


def most_edits(word: str, query: str) -> int:
    """
    Return the number of edits by which *word* may be misspelt; 0 if it is not corrected at all.

    Nothing is corrected in a question in another language than English. Words with digits are identifiers and stay as they
    are; so do short names, because "Marta" is not "Maria".
    """
    if not _FOREIGN.isdisjoint(words(query)):
        return 0
    if len(word) < SHORT - 1 or not word.isalpha() or not word.isascii() or is_english_word(word):
        return 0
    if len(word) < LONG and _is_name(word, query):
        return 0
    return 2 if len(word) >= LONG and not _is_name(word, query) else 1


def best_spelling(word: str, stem: str, alike: Mapping[str, Spelling]) -> str | None:
    """
    Return the stored word that *word* probably means, or ``None``.

    The fewest edits win, then the most documents. A word of four letters may only lack one letter, and a word that begins
    with the stored word is another one ("printf", "print"). A short stem must differ by one edit only: "subag" of
    "subagent" is not "sugar".
    """
    fits = [
        one
        for one in alike.values()
        if (len(word) >= SHORT or len(one.word) == len(stem) + 1)
        and not word.startswith(one.word)
        and (one.edits == 1 or len(stem) > SHORT)
    ]
    best = min(fits, key=lambda one: (one.edits, -one.documents, one.word), default=None)
    return best.word if best else None


def full_words(word: str, stem: str, corrected: str) -> list[str]:
    """
    Return the words that the stored form *corrected* may stand for, likeliest first.

    English words come first, and among them the one with the ending of *word*: "shedule" and "schedul" give "schedule".
    """
    endings = [word[len(stem) :]] if word.startswith(stem) else []
    every = [f"{corrected}{ending}" for ending in (*endings, *_ENDINGS)]
    if corrected.endswith("i"):
        every.insert(0, f"{corrected[:-1]}y")
    return sorted(dict.fromkeys(every), key=is_english_word, reverse=True)


def with_corrections(query: str, corrected: Mapping[str, str]) -> str:
    """Return *query* with each of its words replaced by its correction, if it has one."""
    return re.sub(r"[^\W_]+", lambda found: corrected.get(found[0].lower(), found[0]), query)


def _is_name(word: str, query: str) -> bool:
    """Whether *word* has a capital letter inside a sentence of *query*."""
    return any(
        (_WORD_END.match(query, found.start()) or found)[0].lower() == word for found in _NAME.finditer(query)
    )


FILE = "english_words.bin"
BITS = 700_001  # of the filter: 9.5 for each word
PROBES = 6


def is_english_word(word: str) -> bool:
    """Whether *word*, in lower case, is probably an English word of four letters or more."""
    bits = _filter()
    return all(bits[place >> 3] >> (place & 7) & 1 for place in places(word))


def places(word: str) -> Iterator[int]:
    """Yield the places of *word* in the filter."""
    digest = blake2b(word.encode(), digest_size=16).digest()
    first, step = int.from_bytes(digest[:8], "big"), int.from_bytes(digest[8:], "big")
    return ((first + number * step) % BITS for number in range(PROBES))


@lru_cache(1)
def _filter() -> bytes:
    data = get_data(__package__, FILE)
    assert data is not None
    return data
