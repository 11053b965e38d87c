"""Detection of a contradiction between a new and an earlier observation, and the policies for the earlier one."""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from clawmem.domain.text.vocabulary import denies

LEAST_CONFIDENCE = 0.5  # inclusive, so that BY_NUMBERS suffices
BY_NEGATION = 0.6
BY_NUMBERS = 0.5

# A sign follows no digit, letter or closing bracket, and only a currency symbol may separate it from its number:
# "3-5" and "3–5" are ranges, "2026-03-31" is a date, "x-5" a name. A dash after a number and a blank is a joiner.
_NUMBER = re.compile(
    r"(?:(?:(?<=\butc)|(?<=\bgmt)|(?<![\w)\]%°-]))(?<!\d\s(?=–))(?P<sign>\+/[-−]|[-−–+±])[$€£¥]?|(?P<word>\bminus\s+))?"
    r"(?P<digits>\d{1,5}(?:[.,/–−-]\d{1,5}){0,3})",
    re.IGNORECASE,
)
_ONE_DASH = str.maketrans({",": "", "–": "-", "−": "-"})
_SIGNS = {"-": "-", "−": "-", "–": "-", "+": "", "±": "±"}


class Policy(StrEnum):
    """Treatment of the earlier of two contradicting statements."""

    LINK = "link"  # both stay active and are related as contradicting
    SUPERSEDE = "supersede"  # the earlier one is kept but no longer returned


class Contradiction(NamedTuple):
    """Whether two statements contradict each other, with the confidence from 0 to 1 and the reason."""

    contradictory: bool
    confidence: float
    reason: str = ""


NOTHING = Contradiction(False, 0.0)


def heuristic(new: str, old: str) -> Contradiction:
    """
    Return the verdict of the word rules on two statements about the same matter.

    If exactly one of them contains a negation, the confidence is 0.6. If both contain numbers or dates and share
    none, it is 0.5.
    """
    if denies(new) is not denies(old):
        return Contradiction(True, BY_NEGATION, "one of them is a denial")
    new_numbers, old_numbers = numbers(new), numbers(old)
    if new_numbers and old_numbers and not new_numbers & old_numbers:
        return Contradiction(True, BY_NUMBERS, "their numbers differ")
    return NOTHING


def read_verdict(answer: Mapping[str, Any] | None) -> Contradiction | None:
    """Return a model's verdict; ``None`` without an answer, or if its confidence is not from 0 to 1."""
    if answer is None or not 0.0 <= answer["confidence"] <= 1.0:
        return None
    return Contradiction(answer["contradictory"], float(answer["confidence"]), answer.get("reason", ""))


def contradiction(
    new: str, old: str, model: Contradiction | None = None, *, least: float = LEAST_CONFIDENCE
) -> Contradiction:
    """
    Return the contradiction of *new* and *old* if its confidence is at least *least*, else `NOTHING`.

    A verdict of a *model* takes precedence over the word rules.
    """
    verdict = model or heuristic(new, old)
    return verdict if verdict.contradictory and verdict.confidence >= least else NOTHING


def numbers(text: str) -> frozenset[str]:
    """
    Return the numbers, dates and versions in *text*: one to four groups of up to five digits, without commas.

    A negative number begins with ``-`` in any notation of the minus sign. A plus sign is dropped, ``±`` is kept.
    """
    values: set[str] = set()
    for number in _NUMBER.finditer(text):
        sign = _SIGNS.get((number["sign"] or "+").replace("+/-", "±").replace("+/−", "±"), "")
        values.add(f"{'-' if number['word'] else sign}{number['digits'].translate(_ONE_DASH)}")
    return frozenset(values)
