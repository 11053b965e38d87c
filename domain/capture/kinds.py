"""Kinds of findings in a conversation, and the properties of the documents made from them."""

from __future__ import annotations

from enum import StrEnum

HALF_HOUR_MS = 30 * 60_000
WEEK_MS = 7 * 86_400_000
EXTRACTED_BY_RULES = 0.85  # confidence of decisions; a model's are higher
EXTRACTED_BY_MODEL = 0.90
OBSERVED = 0.80
CAUTIONED = 0.75


class Kind(StrEnum):
    """Kind of statement for which a sentence is kept."""

    DECISION = "decision"  # what will be done, or how
    PREFERENCE = "preference"  # how a user always wants something done
    PROBLEM = "problem"  # what is wrong, and why
    MILESTONE = "milestone"  # what was achieved
    QUESTION = "question"  # what is still unknown
    ANTIPATTERN = "antipattern"  # what failed and must not be repeated


_CONTENT_TYPES = {Kind.QUESTION: "observation"}

# A decision or preference repeated in the same words a week later contains nothing new. Similar words do not suffice:
# with the default vectors, "We won't use Postgres" is as similar to "We'll use Postgres" (.95) as a paraphrase is (.80
# to .99), and "for 90 days" to "for 30 days" (.95). Merging by similarity would lose changed decisions.
_SAID_ONCE = frozenset({Kind.DECISION, Kind.PREFERENCE})


def content_type_of(kind: Kind) -> str:
    """Return the content type of documents of *kind*: its name, or ``observation`` for an open question."""
    return _CONTENT_TYPES.get(kind, kind.value)


def confidence_of(kind: Kind, *, by_model: bool = False) -> float:
    """Return the confidence for *kind*: decisions 0.85 (by a model 0.90), antipatterns 0.75, others 0.80."""
    if kind is Kind.DECISION:
        return EXTRACTED_BY_MODEL if by_model else EXTRACTED_BY_RULES
    return CAUTIONED if kind is Kind.ANTIPATTERN else OBSERVED


def merge_window_ms(kind: Kind) -> int | None:
    """
    Return for how many milliseconds a repeated statement is stored in the same document.

    Half an hour; a week for antipatterns; ``None``, without limit, for decisions and preferences.
    """
    if kind in _SAID_ONCE:
        return None
    return WEEK_MS if kind is Kind.ANTIPATTERN else HALF_HOUR_MS
