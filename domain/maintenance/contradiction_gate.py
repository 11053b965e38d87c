"""Whether what was just noted speaks against what was noted before, and what becomes of the earlier one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

LEAST_CONFIDENCE = 0.5  # inclusive: other numbers are worth exactly this
BY_NEGATION = 0.6
BY_NUMBERS = 0.5

_NEGATION = re.compile(
    r"\b(?:not|never|no|cannot|(?:do|does|did|wo|ca|was|is|are|were|has|have|had|must|should|could|would)n['’]t)\b",
    re.IGNORECASE,
)
# A sign follows no digit, letter or closing bracket, and nothing but a currency stands between it and its number:
# "3-5" and "3–5" are ranges, "2026-03-31" is a date, "x-5" a name. After a number and a blank a dash joins.
_NUMBER = re.compile(
    r"(?:(?:(?<=\butc)|(?<=\bgmt)|(?<![\w)\]%°-]))(?<!\d\s(?=–))(?P<sign>\+/[-−]|[-−–+±])[$€£¥]?|(?P<word>\bminus\s+))?"
    r"(?P<digits>\d{1,5}(?:[.,/–−-]\d{1,5}){0,3})",
    re.IGNORECASE,
)
_ONE_DASH = str.maketrans({",": "", "–": "-", "−": "-"})
_SIGNS = {"-": "-", "−": "-", "–": "-", "+": "", "±": "±"}


class Policy(StrEnum):
    """What becomes of the earlier of two statements that contradict each other."""

    LINK = "link"  # both are served, and related as contradicting each other
    SUPERSEDE = "supersede"  # it is kept, and not served any more


class Contradiction(NamedTuple):
    """Whether two statements contradict each other, how surely from 0 to 1, and why."""

    contradictory: bool
    confidence: float
    reason: str = ""


NOTHING = Contradiction(False, 0.0)


def heuristic(new: str, old: str) -> Contradiction:
    """
    What the words of two statements about the same matter say.

    Exactly one of them is a denial: 0.6. Both hold numbers or dates, none of them in common: 0.5.
    """
    if denies(new) is not denies(old):
        return Contradiction(True, BY_NEGATION, "one of them is a denial")
    ours, theirs = numbers(new), numbers(old)
    if ours and theirs and not ours & theirs:
        return Contradiction(True, BY_NUMBERS, "their numbers differ")
    return NOTHING


def read_verdict(answer: Any) -> Contradiction | None:
    """A model's answer ``{contradictory, confidence, reason}``; ``None`` when it says nothing that can be used."""
    if not isinstance(answer, Mapping) or not isinstance(answer.get("contradictory"), bool):
        return None
    sure, reason = answer.get("confidence"), answer.get("reason")
    if isinstance(sure, bool) or not isinstance(sure, int | float) or not 0.0 <= sure <= 1.0:
        return None
    return Contradiction(answer["contradictory"], float(sure), reason if isinstance(reason, str) else "")


def contradiction(
    new: str, old: str, model: Contradiction | None = None, *, least: float = LEAST_CONFIDENCE
) -> Contradiction:
    """
    Whether *new* contradicts *old*, surely enough to act upon it.

    A *model*'s verdict, where there is one, stands in the place of what the words say. Below *least* it is none.
    """
    found = model or heuristic(new, old)
    return found if found.contradictory and found.confidence >= least else NOTHING


def denies(text: str) -> bool:
    """Whether it holds a word of denial."""
    return _NEGATION.search(text) is not None


def numbers(text: str) -> frozenset[str]:
    """
    Return the numbers, dates and versions in *text*: one to four groups of up to five digits, without commas.

    A negative number begins with ``-``, however its minus is written; a plus is left out; ``±`` stays.
    """
    return frozenset(_sign(found) + found["digits"].translate(_ONE_DASH) for found in _NUMBER.finditer(text))


def _sign(number: re.Match[str]) -> str:
    if number["word"]:
        return "-"
    return _SIGNS.get((number["sign"] or "+").replace("+/-", "±").replace("+/−", "±"), "")
