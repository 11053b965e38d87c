"""
Demands of a question besides its topic, and the shortfall of a text.

A note about the topic need not answer: it may name another person, another year, or no number where the question asks how
many. A question therefore demands that the text contains its words, the names and numbers among them, and a number or a
date if it asks for one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from clawmem.domain.text.likeness import is_same_word
from clawmem.domain.text.names import proper_names
from clawmem.domain.text.vocabulary import MONTHS, NUMBERS, SEASONS, WEEKDAYS
from clawmem.domain.text.words import plain, words

_SHARED = 2  # first letters that two forms of a word share at least
MOST_NAMES = 2.0
LONGEST_NUMBER = 40  # characters
# A time says when something is wanted, and a text may answer for any time. Months that are also given names are missing.
_TIMES = (MONTHS.keys() | WEEKDAYS.keys()) - {"april", "may", "june", "august", "jan", "julio"}
_NO_NAMES = frozenset(
    "what who where when why how it that this there here he she let today tomorrow yesterday everyone someone".split()
)
_ENDINGS_OF_NAMES = frozenset("s es n en er ers ern e".split())
_IDENTIFIER = re.compile(
    r"[A-Za-z]{1,9}[-_./]?\d[\w./-]*|(?!(?:19|20)\d\d-(?:19|20)\d\d$|\d{4}-\d\d(?:-\d\d)?$)\d{4,12}-\d{3,12}[\w-]{0,20}"
)
_WANTS_VALUE = re.compile(
    r"\b(?:how (?:many|much|old|long|often|far|tall|high|deep|big|large|heavy|fast)|when|what (?:date|day|time|year)|wann|wie ?viele?|wie (?:hoch|alt"
    r"|lange|oft|weit|schwer)|combien|quand|cuánt[oa]s?|cuándo|quant[oaie]|quando)\b",
    re.IGNORECASE,
)
_VALUES = (
    NUMBERS.keys()
    | _TIMES
    | SEASONS.keys()
    | {"once", "twice", "half", "none", "yesterday", "today", "gestern"}
)


class QuestionDemands(NamedTuple):
    """
    Demands of a question.

    Attributes:
        words: Its searched words, without diacritics.
        names: Those that are written like proper names.
        numbers: Numbers, and identifiers that contain a digit, as their words.
        time_words: Those that name a time.
        every: All of its words.
        wants_value: Whether it asks for a number or a time.
        has_identifier: Whether one of the numbers is an identifier, such as 2026-014 or MP-40.
    """

    words: tuple[str, ...]
    names: frozenset[str]
    numbers: frozenset[tuple[str, ...]]
    time_words: frozenset[str]
    every: frozenset[str]
    wants_value: bool = False
    has_identifier: bool = False

    def of_first(self, count: int) -> QuestionDemands:
        """Return the demands with the first *count* searched words alone."""
        return self._replace(words=self.words[:count])

    @property
    def is_specific(self) -> bool:
        """Whether a text can be tested for what is asked: a value, a number, or a few names."""
        return bool(self.wants_value or self.numbers or 0 < self._searched_names <= MOST_NAMES)

    def is_missed_by(self, lacks: Shortfall) -> bool:
        """Whether a text with this shortfall lacks the value, a number, or every name."""
        names = self._searched_names
        return lacks.slot > 0 or lacks.number > 0 or 0 < names <= min(lacks.names, MOST_NAMES)

    @property
    def _searched_names(self) -> int:
        return len(self.names.intersection(self.words))


class Shortfall(NamedTuple):
    """
    Parts of a question that a text lacks.

    Attributes:
        words: Share of the rarity of the question's words, in [0, 1].
        names: Number of proper names, at most `MOST_NAMES`.
        number: Whether a number or identifier is missing.
        slot: Whether the question asks for a number or a time, and the text has none that is not in the question.
    """

    words: float = 0.0
    names: float = 0.0
    number: float = 0.0
    slot: float = 0.0

    @property
    def burden(self) -> float:
        """Sum by which texts are compared: the smallest is the best."""
        return self.words + self.distinct + 0.3 * self.slot

    @property
    def distinct(self) -> float:
        """Number of missing names, and one more for a missing number: another person or year."""
        return self.names + self.number


def requested(text: str, searched: Sequence[str], named_time: str = "") -> QuestionDemands:
    """
    Return what the question *text* asks for.

    Args:
        text: The question.
        searched: Its searched words.
        named_time: The part of it that names a time.
    """
    numbers = (part for part in text.split() if len(part) <= LONGEST_NUMBER and any(map(str.isdigit, part)))
    names = (word for name in proper_names(text) for word in words(name) if len(word) > 1 and word.isalpha())
    return QuestionDemands(
        tuple(map(plain, searched)),
        frozenset(
            plain(name) for name in names if name not in _NO_NAMES and name.removesuffix("s") not in _TIMES
        ),
        frozenset(tuple(map(plain, words(number))) for number in numbers),
        frozenset(map(plain, words(named_time))),
        frozenset(map(plain, words(text))),
        _WANTS_VALUE.search(text) is not None,
        any(_IDENTIFIER.fullmatch(part.strip("?!.,;:()\"'")) for part in text.split()),
    )


def unmet(
    asked: QuestionDemands, rarities: Sequence[float], text: str, near: str, *, is_in_time: bool = False
) -> Shortfall:
    """
    Return what *text* lacks.

    Args:
        asked: Demands of the question.
        rarities: Weight of each of its words.
        text: Text in which its words are looked for, with the names and the date of its note.
        near: Part of the text around the best line, in which a value is looked for.
        is_in_time: Whether the note was written in the time that the question names.
    """
    spoken = [plain(word) for word in words(text)]
    distinct, joined = frozenset(spoken), f" {' '.join(spoken)} "

    def is_lacking(word: str) -> bool:
        if word in distinct or (is_in_time and word in asked.time_words):
            return False
        is_form = _is_form_of_name if word in asked.names else is_same_word
        return not any(is_form(word, other) for other in distinct if other.startswith(word[:_SHARED]))

    lacking = [is_lacking(word) for word in asked.words]
    missing = sum(rarity for rarity, is_missing in zip(rarities, lacking, strict=True) if is_missing)
    numbers = (number for number in asked.numbers if not (is_in_time and asked.time_words.issuperset(number)))
    values = (word for word in words(near) if word in _VALUES or any(map(str.isdigit, word)))
    return Shortfall(
        missing / sum(rarities) if missing else 0.0,
        min(
            MOST_NAMES,
            sum(word in asked.names for word, lacks in zip(asked.words, lacking, strict=True) if lacks),
        ),
        float(any(f" {' '.join(number)} " not in joined for number in numbers)),
        float(asked.wants_value and all(plain(value) in asked.every for value in values)),
    )


def least_unmet(shortfalls: Iterable[Shortfall]) -> Shortfall:
    """Return the smallest of *shortfalls*, by `Shortfall.burden`; that of an empty text if there are none."""
    return min(shortfalls, key=lambda shortfall: shortfall.burden, default=Shortfall(words=1.0))


def _is_form_of_name(name: str, other: str) -> bool:
    """Whether one of two words is the other with an ending of a name: "Annas", "Berliner"; no "parish" for "Paris"."""
    shorter, longer = sorted((name, other), key=len)
    return longer.startswith(shorter) and longer.removeprefix(shorter) in _ENDINGS_OF_NAMES
