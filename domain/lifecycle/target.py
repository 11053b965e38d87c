"""Which document somebody means who asks to pin, snooze or forget one, and whether that is sure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from math import ceil
from typing import NamedTuple

from clawmem.domain.documents.tokens import words
from clawmem.ports.records import Document

MOST = 5  # candidates
SHOWN = 3  # of those that nobody can choose from by rule
SURE = 0.7
GAP = 0.2
PATH_STEP = 0.05
LEAST_WORDS = 2


class How(StrEnum):
    """By what a document was found; asked in this order until something is."""

    DOCID = "docid"
    PATH = "path"
    WORDS = "words"
    TITLE = "title"
    MEANING = "meaning"


class Match(NamedTuple):
    """A document that may be meant, and how well it fits, 0 to 1; of one `How` alone comparable."""

    document: Document
    score: float


def is_path(query: str) -> bool:
    """Whether *query* reads as a path: it has a slash, or ends like a note."""
    return "/" in query or query.endswith(".md")


def by_path(query: str, documents: Iterable[Document]) -> list[Match]:
    """Documents whose place holds *query*, in their order: the first scores 1, each further one .05 less."""
    fitting = (one for one in documents if query.casefold() in one.display_path.casefold())
    return [Match(one, 1 - PATH_STEP * place) for place, one in zip(range(MOST), fitting, strict=False)]


def by_title(query: str, documents: Iterable[Document]) -> list[Match]:
    """Documents whose titles hold half of the words of *query* or more, and at least two; the share is the score."""
    wanted = frozenset(words(query))
    held = ((one, len(wanted & frozenset(words(one.title)))) for one in documents)
    least = least_held(len(wanted))
    found = [Match(one, count / len(wanted)) for one, count in held if count >= least]
    return sorted(found, key=lambda match: -match.score)[:MOST]


def least_held(count: int) -> int:
    """How many of so many words have to be there: half of them, and at least two."""
    return max(LEAST_WORDS, ceil(count / 2))


def bounded(score: float) -> float:
    """A positive score of a lexical index as a share of 1; grows with it."""
    return score / (1 + score)


def is_sure(query: str, how: How, matches: Sequence[Match]) -> bool:
    """
    Whether the first of *matches* is meant and no other.

    It is when it alone has exactly this title or place. Otherwise it must come clear of the second by .2, or
    score .7 where the second does not; what is near in meaning alone must score .7 as well.
    """
    if not matches:
        return False
    named = [is_named(query, match.document) for match in matches]
    if any(named):
        return named[0] and named.count(True) == 1
    top = matches[0].score
    second = matches[1].score if len(matches) > 1 else None
    if how is How.MEANING and top < SURE:
        return False
    return second is None or top - second >= GAP or top >= SURE > second


def is_named(query: str, document: Document) -> bool:
    """Whether *query* is a document's title or place, whatever the case of its letters."""
    return query.strip().casefold() in (document.title.casefold(), document.display_path.casefold())
