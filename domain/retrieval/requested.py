"""
Demands of a question besides its topic, and the shortfall of a text.

A note about the topic need not answer: it may name another person, another year, or say nothing of a price. A question
therefore demands that the text contains its words, the names and numbers among them, and a filler of the slot that it
asks for: a number for "how many", a telephone number for "phone". The words of a slot ("cost", "euros") count as
contained if the text has a filler.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from clawmem.domain.retrieval.answer_slots import COUNT, NUMBER_WORDS, SLOTS, Slot
from clawmem.domain.security.patterns import AnyCase, Pattern
from clawmem.domain.text.vocabulary import MONTHS, WEEKDAYS
from clawmem.domain.text.words import words

STEM = 4  # letters that two forms of a word share at least
_SHARED = STEM - 2  # first letters that two forms of a word share at least, if the word is short
MOST_ENDING = 3  # letters that a form may have after the stem
NEAR_NOUN = 3  # words between a number and the things that it counts
MOST_NAMES = 2.0
SHORT = 8  # words; a longer question may mention a telephone number without asking for it
LONGEST_NUMBER = 40  # characters
# Not fitted, as few of the judged questions ask for a telephone number, an address, a code or a colour.
NOTHING_ELSE = 4.0

_LANGUAGES = frozenset(
    "english german french spanish portuguese italian dutch japanese chinese korean deutsch français español".split()
)
# A time says when something is wanted, and a text may answer for any time. Months that are also given names are missing.
_TIMES = (MONTHS.keys() | WEEKDAYS.keys()) - {"april", "may", "june", "august", "jan"}
_IDENTIFIER = Pattern(
    r"[A-Za-z]{1,9}[-_./]?\d[\w./-]*|(?!(?:19|20)\d\d-(?:19|20)\d\d$|\d{4}-\d\d(?:-\d\d)?$)\d{4,12}-\d{3,12}[\w-]{0,20}"
)
# Capitalised after another word, or with a genitive ("Priya's number").
_NAME = Pattern(r"(?<=[^\s.?!:]\s)[A-ZÀ-Þ](?:-?\w)[\w'’-]{0,40}|(?<!\S)[A-ZÀ-Þ][a-zà-ÿ]{1,30}(?=['’]s\b)")
_POSSESSOR = Pattern(r"(?<!\S)[a-zà-ÿ]{3,30}(?=['’]s\b)")  # of a question without capitals
_NO_NAMES = frozenset(
    "what who where when why how it that this there here he she let today tomorrow yesterday everyone someone".split()
)
# Cues that are verbs before an object ("rent a raft"), but not before a unit of time ("rent a month").
_VERBS_TOO = frozenset("rent phone telephone email mail bill date".split())
_ARTICLES = frozenset("a an the my our your his her their this".split())
_ENDINGS_OF_NAMES = frozenset("s es n en er ers ern e".split())
_UNITS = frozenset("day week month quarter year night hour".split())
# Words before a clause that asks for nothing: "what did he do after he got my phone number".
_CIRCUMSTANCES = frozenset("after before because since while although without".split())
_LEAST_ASKED = 3  # words that ask for something
_COUNTED = AnyCase(r"\b(?:how many|wie ?viele|combien de|combien d|quant[oa]s|cuánt[oa]s)\s+(\w+)")


class QuestionDemands(NamedTuple):
    """
    Demands of a question.

    Attributes:
        words: Its searched words, without diacritics.
        names: Those that are written like proper names.
        numbers: Numbers, and identifiers that contain a digit, as their words.
        time_words: Those that name a time.
        slots: Kinds of answer that it asks for.
        every: All of its words.
        counted: The noun that "how many" asks for; empty if none.
        has_identifier: Whether one of the numbers is an identifier, such as 2026-014 or MP-40.
    """

    words: tuple[str, ...]
    names: frozenset[str]
    numbers: frozenset[tuple[str, ...]]
    time_words: frozenset[str]
    slots: tuple[Slot, ...]
    every: frozenset[str]
    counted: str = ""
    has_identifier: bool = False

    def of_first(self, count: int) -> QuestionDemands:
        """Return the demands with the first *count* searched words alone."""
        return self._replace(words=self.words[:count])

    @property
    def is_exact(self) -> bool:
        """Whether only a text with an identifier, or with a contact of a named person, can answer."""
        return self.has_identifier or self._asks_contact

    @property
    def _asks_contact(self) -> bool:
        is_asked = len(self.every) <= SHORT and any(slot.is_contact for slot in self.slots)
        return is_asked and bool(self._searched_names)

    def is_exactly_met(self, lacks: Shortfall) -> bool:
        """Whether a text with this shortfall has the identifier, and the contact next to the name."""
        return lacks.number == 0 and not (self._asks_contact and (lacks.slot or lacks.names))

    @property
    def is_specific(self) -> bool:
        """Whether a text can be tested for what is asked: a filler of a slot, a few names, or a number."""
        return bool(self.slots or self.numbers or self._searched_names)

    @property
    def _searched_names(self) -> frozenset[str]:
        """Names that a text is tested for; none if there are many, as each text is about some of them."""
        names = self.names.intersection(self.words)
        return names if len(names) <= MOST_NAMES else frozenset()

    def is_missed_by(self, lacks: Shortfall) -> bool:
        """Whether a text with this shortfall lacks a filler, a number, or every name."""
        names = len(self._searched_names)
        return lacks.slot > 0 or lacks.number > 0 or 0 < names <= lacks.names


class Shortfall(NamedTuple):
    """
    Parts of a question that a text lacks.

    Attributes:
        words: Share of the rarity of the question's words, in [0, 1].
        names: Number of proper names, at most `MOST_NAMES`.
        number: Whether a number or identifier is missing.
        slot: 1 if the text has no filler of any slot that is asked for, `NOTHING_ELSE` if only such a filler can answer;
            else 0.
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
    every = words(text)
    spoken = f" {' '.join(_asking_words(every))} "
    counted = _COUNTED.search(text)
    return QuestionDemands(
        tuple(map(_plain, searched)),
        frozenset(
            _plain(word)
            for name in (_NAME if text != text.lower() else _POSSESSOR).compiled.findall(text)
            for word in words(name)
            if len(word) > 1
            and word.isalpha()
            and word not in _LANGUAGES | _NO_NAMES
            and word.removesuffix("s") not in _TIMES
        ),
        frozenset(_numbers(text)),
        frozenset(map(_plain, words(named_time))),
        tuple(slot for slot in SLOTS if any(f" {cue} " in spoken for cue in slot.cues)),
        frozenset(map(_plain, every)),
        _plain(counted[1].lower()) if counted else "",
        any(map(_is_identifier, text.split())),
    )


def _asking_words(every: Sequence[str]) -> Iterator[str]:
    """Yield the words of a question that may ask for a slot: no circumstances, and no verbs with an object."""
    for at, word in enumerate(every):
        if word in _CIRCUMSTANCES and at >= _LEAST_ASKED:
            return
        article, noun = [*every[at + 1 : at + 3], "", ""][:2]
        is_noun = at > 0 and every[at - 1] in _ARTICLES
        if word not in _VERBS_TOO or article not in _ARTICLES or noun in _UNITS or is_noun:
            yield word


def _numbers(text: str) -> Iterator[tuple[str, ...]]:
    for part in text.split():
        if len(part) <= LONGEST_NUMBER and any(map(str.isdigit, part)):
            yield tuple(map(_plain, words(part)))


def _is_identifier(part: str) -> bool:
    """Whether *part* is a code of digits and letters or of two long numbers; no date, time, range or amount."""
    return _IDENTIFIER.compiled.fullmatch(part.strip("?!.,;:()\"'")) is not None


def unmet(
    asked: QuestionDemands, rarities: Sequence[float], text: str, near: str, *, is_in_time: bool = False
) -> Shortfall:
    """
    Return what *text* lacks.

    Args:
        asked: Demands of the question.
        rarities: Weight of each of its words.
        text: Text in which its words are looked for, with the names and the date of its note.
        near: Part of the text around the best line, in which fillers are looked for; its last line has the names of its note.
        is_in_time: Whether the note was written in the time that the question names.
    """
    spoken = [_plain(word) for word in words(text)]
    held = frozenset(spoken)
    filled = [slot for slot in asked.slots if _is_filled(asked, slot, near)]
    replaced = {word for slot in filled for word in slot.stands_for}
    lacks = [
        not (word in held or word in replaced or (is_in_time and word in asked.time_words))
        and not any(
            (_is_form_of_name if word in asked.names else is_same_word)(word, other)
            for other in held
            if other.startswith(word[:_SHARED])
        )
        for word in asked.words
    ]
    pairs = [*zip(asked.words, lacks, strict=True)]
    total = sum(rarities)
    return Shortfall(
        sum(rarity for rarity, is_lacking in zip(rarities, lacks, strict=True) if is_lacking) / total if total else 0.0,
        min(MOST_NAMES, sum(is_lacking for word, is_lacking in pairs if word in asked.names)),
        float(any(_is_lacking(number, asked, spoken, is_in_time) for number in asked.numbers)),
        _empty_slot(asked, filled),
    )  # fmt: skip


def _is_lacking(
    number: Sequence[str], asked: QuestionDemands, spoken: Sequence[str], is_in_time: bool
) -> bool:
    if is_in_time and asked.time_words.issuperset(number):
        return False
    return f" {' '.join(number)} " not in f" {' '.join(spoken)} "


def _empty_slot(asked: QuestionDemands, filled: Sequence[Slot]) -> float:
    slots = asked.slots
    if len(asked.every) <= SHORT and any(slot.is_contact and slot not in filled for slot in slots):
        return NOTHING_ELSE
    decisive = [slot for slot in slots if slot.beside or slot is COUNT]
    return float(bool(slots) and not (filled and all(slot in filled for slot in decisive)))


def least_unmet(some: Iterable[Shortfall]) -> Shortfall:
    """Return the smallest of *some*, by `Shortfall.burden`; that of an empty text if there are none."""
    return min(some, key=lambda one: one.burden, default=Shortfall(words=1.0))


def is_same_word(one: str, other: str) -> bool:
    """Whether two words are forms of one word: equal stems of at least `STEM` letters with short endings."""
    shorter, longer = sorted((one, other), key=len)
    if len(shorter) < STEM:
        return len(shorter) > STEM - 2 and shorter.removesuffix("s") == longer.removesuffix("s")
    shared = next((at for at, letter in enumerate(shorter) if letter != longer[at]), len(shorter))
    return shared >= max(STEM, len(shorter) - 2) and len(longer) - shared <= MOST_ENDING


def _is_form_of_name(name: str, other: str) -> bool:
    """Whether one of two words is the other with an ending of a name: "Annas", "Berliner"; no "parish" for "Paris"."""
    shorter, longer = sorted((name, other), key=len)
    return longer.startswith(shorter) and longer.removeprefix(shorter) in _ENDINGS_OF_NAMES


def _is_filled(asked: QuestionDemands, slot: Slot, near: str) -> bool:
    if slot is COUNT and asked.counted:
        spoken = [_plain(word) for word in words(near)]
        places = [at for at, word in enumerate(spoken) if is_same_word(word, asked.counted)]
        if places:
            around = (word for at in places for word in spoken[max(0, at - NEAR_NOUN) : at + NEAR_NOUN + 1])
            return any(_is_number(word) for word in around if word not in asked.every)
    if slot.beside and not slot.beside.compiled.search(near):
        return False
    if slot.is_contact:
        return any(
            map(slot.filler.compiled.search, _entries_about(asked.names.intersection(asked.words), near))
        )
    return any(
        asked.every.isdisjoint(map(_plain, words(found[0]))) for found in slot.filler.compiled.finditer(near)
    )


def _entries_about(names: frozenset[str], near: str) -> list[str]:
    """Return the entries of a list, paragraphs and sections that name one of *names*; all of *near* if none or its note does."""
    *lines, of_note = near.split("\n")
    about = [at for at, line in enumerate(lines) if not names.isdisjoint(map(_plain, words(line)))]
    if not about or not names.isdisjoint(map(_plain, words(of_note))):
        return [near]
    return ["\n".join([lines[at], *takewhile(_is_going_on(lines[at]), lines[at + 1 :])]) for at in about]


def _is_going_on(first: str) -> Callable[[str], bool]:
    if first.startswith("#"):
        return lambda line: not line.startswith("#")
    return lambda line: line[:1].isalpha() or line.startswith("  ")


def _is_number(word: str) -> bool:
    return word in NUMBER_WORDS or any(map(str.isdigit, word))


def _plain(word: str) -> str:
    """Return *word* without diacritics."""
    if word.isascii():
        return word
    return "".join(sign for sign in unicodedata.normalize("NFD", word) if not unicodedata.combining(sign))
