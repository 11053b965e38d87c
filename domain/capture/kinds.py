"""The kinds of things that are kept of a conversation, and what each is as a document."""

from __future__ import annotations

from enum import StrEnum

HALF_HOUR_MS = 30 * 60_000
WEEK_MS = 7 * 86_400_000
EXTRACTED_BY_RULES = 0.85  # of decisions; a model's are worth more
EXTRACTED_BY_MODEL = 0.90
OBSERVED = 0.80
CAUTIONED = 0.75


class Kind(StrEnum):
    """What a sentence is worth keeping for."""

    DECISION = "decision"  # how things are going to be
    PREFERENCE = "preference"  # how somebody wants them to be done, always
    PROBLEM = "problem"  # what is wrong, and why
    MILESTONE = "milestone"  # what was reached
    QUESTION = "question"  # what nobody knows yet
    ANTIPATTERN = "antipattern"  # what was tried and failed, and shall be left alone


_CONTENT_TYPES = {Kind.QUESTION: "observation"}

# Somebody who decides or wishes the same thing again next week has not said anything new. The same is the same words:
# of the default vectors "We won't use Postgres" is as near to "We'll use Postgres" (.95) as another wording of it (.80 to
# .99), and "for 90 days" to "for 30 days" (.95); merged by nearness, a change of mind would be lost.
_SAID_ONCE = frozenset({Kind.DECISION, Kind.PREFERENCE})


def content_type_of(kind: Kind) -> str:
    """The content type of a document that keeps one: the kind's name, ``observation`` for an open question."""
    return _CONTENT_TYPES.get(kind, kind.value)


def confidence_of(kind: Kind, *, by_model: bool = False) -> float:
    """
    How far one is relied on: decisions 0.85, or 0.90 when a model noted them, antipatterns 0.75, all else 0.80.
    """
    if kind is Kind.DECISION:
        return EXTRACTED_BY_MODEL if by_model else EXTRACTED_BY_RULES
    return CAUTIONED if kind is Kind.ANTIPATTERN else OBSERVED


def merge_window_ms(kind: Kind) -> int | None:
    """
    For how long the same thing said again is the same document, in milliseconds.

    Half an hour; a week for antipatterns; ``None``, which is for ever, for decisions and preferences.
    """
    if kind in _SAID_ONCE:
        return None
    return WEEK_MS if kind is Kind.ANTIPATTERN else HALF_HOUR_MS
