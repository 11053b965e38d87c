"""The question as one record, and everything that is said in answer to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from clawmem.domain.documents.times import iso_utc, parse_iso
from clawmem.domain.retrieval.query_forms import MAX_QUERY, QueryForms, query_forms
from clawmem.domain.retrieval.snippets import Snippet
from clawmem.ports.errors import InvalidInput
from clawmem.ports.records import EVERYTHING, Document, FragmentKey, Hit, Scope, Span

MAX_LIMIT = 100
DAY_MS = 86_400_000


class Unit(StrEnum):
    """What an answer is a list of."""

    DOCUMENT = "document"
    LINE = "line"  # a paragraph, list item or chat turn


class Ranking(StrEnum):
    """How relevance and metadata become one score."""

    CALIBRATED = "calibrated"
    PUBLISHED = "published"


@dataclass(frozen=True, slots=True)
class RetrievalRequest:
    """One question, read and checked; every stage of every pipeline gets this and nothing of the raw text."""

    query: str
    forms: QueryForms
    now_ms: int
    limit: int = 10
    min_score: float = 0.0
    scope: Scope = EVERYTHING
    unit: Unit = Unit.DOCUMENT
    ranking: Ranking = Ranking.CALIBRATED
    diverse: bool = True


def read_request(
    query: str,
    *,
    now_ms: int,
    limit: int = 10,
    min_score: float = 0.0,
    collections: Sequence[str] = (),
    since: str = "",
    until: str = "",
    unit: Unit = Unit.DOCUMENT,
    ranking: Ranking = Ranking.CALIBRATED,
    diverse: bool = True,
) -> RetrievalRequest:
    """
    Check what was asked and read the question's words once.

    Args:
        since: The first day, or moment, of which authored documents are seen, ISO 8601.
        until: The last one: a day counts to its end.

    Raises:
        InvalidInput: an empty or over-long question, a limit outside 1..100, a score outside 0..1, a date
            that is none.
    """
    if not query.strip():
        raise InvalidInput("INVALID_INPUT", "The question is empty. Give it a word to look for.")
    if len(query) > MAX_QUERY:
        raise InvalidInput(
            "INPUT_TOO_LONG",
            f"The question has {len(query)} characters; {MAX_QUERY} are the most. Shorten it.",
        )
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidInput("OUT_OF_BOUNDS", f"A limit of {limit} cannot be met; choose 1 to {MAX_LIMIT}.")
    if not 0.0 <= min_score <= 1.0:
        raise InvalidInput("OUT_OF_BOUNDS", f"A minimum score of {min_score} makes no sense; choose 0 to 1.")
    scope = Scope(frozenset(collections), _moment(since), _moment(until, after=True))
    return RetrievalRequest(
        query, query_forms(query), now_ms, limit, min_score, scope, unit, ranking, diverse
    )


def _moment(text: str, *, after: bool = False) -> str | None:
    """The moment that *text* names as documents write it, or the first one *after* what it names."""
    if not text:
        return None
    ms = parse_iso(text)
    if ms is None:
        raise InvalidInput("INVALID_INPUT", f"{text!r} is no date. Write it like 2026-03-31.")
    return iso_utc(ms + (_length_ms(text) if after else 0))


def _length_ms(text: str) -> int:
    return DAY_MS if len(text.strip()) == len("2026-03-31") else 1


@dataclass(frozen=True, slots=True)
class Candidate:
    """
    Something that may be an answer, as the stages see it.

    ``legs`` says what each leg contributed, ``terms`` what the ranking policy made of it; ``score`` orders.
    """

    document_id: int
    best: FragmentKey
    relevance: float
    score: float
    legs: Mapping[str, float] = field(default_factory=dict)
    terms: Mapping[str, float] = field(default_factory=dict)
    document: Document | None = None
    span: Span | None = None


@dataclass(slots=True)
class StageTrace:
    """One stage: how many candidates came in and went out, how long it took, and what it wants said."""

    name: str
    came_in: int
    went_out: int
    ms: float
    notes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Trace:
    """How an answer came about. ``degraded`` says which leg was missing and why; the rest answered."""

    stages: list[StageTrace] = field(default_factory=list)
    degraded: dict[str, str] = field(default_factory=dict)
    hits: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Work:
    """What walks through the stages: the hits of every leg, then the one list of candidates."""

    legs: Mapping[str, Sequence[Hit]] = field(default_factory=dict)
    candidates: tuple[Candidate, ...] = ()

    def with_candidates(self, candidates: Sequence[Candidate]) -> Work:
        """The same hits with another list of candidates."""
        return replace(self, candidates=tuple(candidates))


@dataclass(frozen=True, slots=True)
class Result:
    """One answer as a door shows it."""

    document: Document
    docid: str
    score: float
    relevance: float
    start_line: int
    end_line: int
    heading: str
    snippet: Snippet
    age_days: float
    legs: Mapping[str, float]
    terms: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Answer:
    """All answers, best first, with the trace of how they were found."""

    query: str
    results: tuple[Result, ...]
    trace: Trace
