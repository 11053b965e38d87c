"""The profile page: current statements and recent work, each line with its origin."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from clawmem.domain.documents.address import OWN_COLLECTION
from clawmem.domain.documents.tokens import token_count, words
from clawmem.ports.records import Document

DECISIONS, HUBS = 20, 10  # documents that the page is built from
MOST_FACTS, FACT_TOKENS = 30, 500
MOST_ITEMS, ITEM_TOKENS = 10, 280  # with the facts, within the 800 tokens that a session gets
NEAR = 5  # edit distance below which two facts are duplicates
STALE_SESSIONS = 5  # sessions begun since the page was built

PAGE_PATH, PAGE_TYPE = "profile.md", "hub"
TITLE = "Profile"
HOLDS, AT_IT = "## What holds", "## Lately"


def is_profile_asked(query: str, collections: Collection[str]) -> bool:
    """Whether a question asks for the profile page by its name or its collection: the page repeats other notes."""
    return OWN_COLLECTION in collections or TITLE.lower() in words(query)


def is_profile_page(document: Document) -> bool:
    """Whether *document* is the profile page."""
    return (document.collection, document.path) == (OWN_COLLECTION, PAGE_PATH)


class ProfileLine(NamedTuple):
    """A statement of the page with the path and the day of its note."""

    text: str
    path: str
    day: str

    def __str__(self) -> str:
        """Return the printed line; the day is left out where the path names it."""
        origin = self.path if self.day in self.path else f"{self.path}, {self.day}"
        return f"- {self.text} ({origin})"


def distinct(facts: Iterable[str]) -> list[str]:
    """Return *facts* without those within four edits of an earlier one, ignoring case."""
    kept: list[str] = []
    for fact in facts:
        if not any(_is_near(fact.lower(), other.lower()) for other in kept):
            kept.append(fact)
    return kept


def profile_text(facts: Sequence[ProfileLine], items: Sequence[ProfileLine]) -> str:
    """
    Return the Markdown of the page: up to 30 facts in 500 tokens and up to 10 items in 280; empty without any.

    A line that does not fit is left out, not cut.
    """
    parts = [_part(HOLDS, facts, MOST_FACTS, FACT_TOKENS), _part(AT_IT, items, MOST_ITEMS, ITEM_TOKENS)]
    said = [part for part in parts if part]
    return "\n\n".join([f"# {TITLE}", *said]) + "\n" if said else ""


def _part(heading: str, lines: Sequence[ProfileLine], most: int, budget: int) -> str:
    told = dict.fromkeys(distinct(line.text for line in lines))
    first = {line.text: line for line in reversed(lines)}
    kept: list[str] = []
    for text in [*told][:most]:
        if token_count("\n".join([heading, *kept, str(first[text])])) <= budget:
            kept.append(str(first[text]))
    return "\n\n".join([heading, "\n".join(kept)]) if kept else ""


def _is_near(one: str, other: str) -> bool:
    return abs(len(one) - len(other)) < NEAR and edits(one, other, NEAR) < NEAR


def edits(one: str, other: str, most: int) -> int:
    """Return the Levenshtein distance of *one* and *other*, capped at *most*."""
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
