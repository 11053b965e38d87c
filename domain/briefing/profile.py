"""Who somebody is to an assistant, on one page: what holds, and what they are at."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from clawmem.domain.briefing.packing import packed

DECISIONS, HUBS = 20, 10  # documents that the page is made of
MOST_FACTS, FACT_TOKENS = 30, 500
MOST_ITEMS, ITEM_TOKENS = 10, 300
SHORTEST, LONGEST = 10, 200  # characters of a fact
NEAR = 5  # edits: what differs by fewer says the same
STALE_SESSIONS = 5  # begun since the page was made

TITLE = "Profile"
HOLDS, AT_IT = "## What holds", "## Lately"

_BULLET = re.compile(r"^[ \t]*[-*+•][ \t]+(?:\[[ xX]\][ \t]+)?(.+?)[ \t]*$", re.MULTILINE)


def bullets(body: str) -> list[str]:
    """The list items of a note that have 10 to 200 characters, in order."""
    flat = (" ".join(found.split()) for found in _BULLET.findall(body))
    return [item for item in flat if SHORTEST <= len(item) <= LONGEST]


def distinct(facts: Iterable[str]) -> list[str]:
    """*facts* without those that are fewer than five edits away from one before them, in any case."""
    kept: list[str] = []
    for fact in facts:
        if not any(_is_near(fact.lower(), other.lower()) for other in kept):
            kept.append(fact)
    return kept


def profile_text(facts: Sequence[str], items: Sequence[str]) -> str:
    """
    The Markdown of the page: up to 30 facts in 500 tokens, up to 10 items in 300; empty when there is neither.
    """
    parts = [
        _part(HOLDS, distinct(facts)[:MOST_FACTS], FACT_TOKENS),
        _part(AT_IT, distinct(items)[:MOST_ITEMS], ITEM_TOKENS),
    ]
    said = [part for part in parts if part]
    return "\n\n".join([f"# {TITLE}", *said]) + "\n" if said else ""


def _part(heading: str, items: Sequence[str], budget: int) -> str:
    lines = packed([f"- {item}" for item in items], budget)
    return "\n\n".join([heading, "\n".join(lines)]) if lines else ""


def _is_near(one: str, other: str) -> bool:
    return abs(len(one) - len(other)) < NEAR and edits(one, other, NEAR) < NEAR


def edits(one: str, other: str, most: int) -> int:
    """How many insertions, deletions and replacements lead from *one* to *other*; *most* when not fewer."""
    row = list(range(len(other) + 1))
    for place, char in enumerate(one, start=1):
        before, row[0] = row[0], place
        for column, match in enumerate(other, start=1):
            before, row[column] = (
                row[column],
                min(row[column] + 1, row[column - 1] + 1, before + (char != match)),
            )
        if min(row) >= most:
            return most
    return min(row[-1], most)
