"""Retrieval requests."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, tzinfo
from enum import StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple, Self

from clawmem.app.services.documents.days import Sections
from clawmem.domain.documents.times import parse_iso
from clawmem.domain.retrieval.query_forms import MAX_QUERY
from clawmem.domain.retrieval.question import Question
from clawmem.domain.text.dates import TimeRange, recorded_midnight, time_named
from clawmem.ports.clock import Clock
from clawmem.ports.errors import InvalidInput
from clawmem.ports.records import EVERYTHING, Scope

MAX_LIMIT = 100

# Vector search always finds a nearest fragment. With the default vectors, answers have cosines of 0.2 to 0.6 and
# nonsense 0.1 to 0.15. The published system's threshold of 0.3, for its composite score, would hide answers.
LEAST_COSINE = 0.15


class Unit(StrEnum):
    """Type of item that is ranked."""

    DOCUMENT = "document"
    LINE = "line"  # a paragraph, list item or chat turn


class Ranking(StrEnum):
    """Policy that combines relevance and metadata into one score."""

    CALIBRATED = "calibrated"
    PUBLISHED = "published"
    OPENCLAW = "openclaw"


class RetrievalRequest(NamedTuple):
    """
    One validated question, as all stages receive it.

    Results have one of ``content_types`` and all of ``tags``, or tags below them, and meet the conditions ``where`` on
    their properties (``name=value``, see `read_filter`). ``floor`` is the least probability, 0 to 1, that any result
    answers; below it the answer is empty. ``purpose`` says what the answer is wanted for in words that affect the
    ranking and are not searched for. Documents written at ``as_of`` (an ISO time) or later are ignored, see
    `rewind_request`. ``candidate_limit`` bounds the candidates that later stages consider, a reranker included; by
    default each stage uses its own depth. ``show_all`` keeps unlikely results below a likely one. ``days`` are the first
    and the last one to which the scope is restricted, and ``sections`` those of these days in notes of several.
    """

    question: Question
    limit: int = 10
    min_score: float = 0.0
    scope: Scope = EVERYTHING
    unit: Unit = Unit.DOCUMENT
    ranking: Ranking = Ranking.CALIBRATED
    diverse: bool = True
    content_types: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()
    where: frozenset[str] = frozenset()
    floor: float = 0.0
    purpose: str = ""
    as_of: str | None = None
    candidate_limit: int | None = None
    show_all: bool = False
    days: tuple[str, str] | None = None
    sections: Sections = MappingProxyType({})

    def asking(self, text: str) -> Self:
        """Return the same request for the question *text*; what is known of an equal question stays known."""
        same = text == self.question.text
        return self if same else self._replace(question=replace(self.question, text=text))


def read_request(
    query: str,
    *,
    now_ms: int,
    zone: tzinfo = UTC,
    collections: Sequence[str] = (),
    since: str = "",
    until: str = "",
    as_of: str = "",
    content_types: Sequence[str] = (),
    tags: Sequence[str] = (),
    where: Sequence[str] = (),
    **options: Any,
) -> RetrievalRequest:
    """
    Validate a question and its conditions; *options* are other fields of `RetrievalRequest`.

    Documents were written from the begin of *since* to the end of *until*; the question is answered at the end of *as_of*.
    See `time_named` for these times.

    Raises:
        InvalidInput: an empty or over-long question, a limit outside 1..100, a score outside 0..1, or an invalid date.
    """
    if not query.strip():
        raise InvalidInput("INVALID_INPUT", "The question is empty. Give it a word to look for.")
    if len(query) > MAX_QUERY:
        raise InvalidInput(
            "INPUT_TOO_LONG",
            f"The question has {len(query)} characters; {MAX_QUERY} are the most. Shorten it.",
        )
    period = read_period(since, until, now_ms, zone)
    scope = Scope(frozenset(collections))
    past = read_period("", as_of, now_ms, zone)
    first, last = period.days(zone) if period else ("", "")
    if past:  # of a diary of several days those up to then
        last = min(filter(None, (last, past.days(zone)[1])))
    request = RetrievalRequest(
        Question(query, now_ms, zone),
        scope=scope_within(scope, period, zone) if period else scope,
        days=(first, last) if period or past else None,
        content_types=frozenset(content_types),
        tags=frozenset(tags),
        where=frozenset(where),
        as_of=past and past.authored_until,
        **options,
    )
    for share, name in ((request.min_score, "minimum score"), (request.floor, "floor")):
        if not 0.0 <= share <= 1.0:
            raise InvalidInput("OUT_OF_BOUNDS", f"A {name} of {share} makes no sense; choose 0 to 1.")
    for limit in (request.limit, request.candidate_limit):
        if limit is not None and not 1 <= limit <= MAX_LIMIT:
            raise InvalidInput("OUT_OF_BOUNDS", f"A limit of {limit} cannot be met; choose 1 to {MAX_LIMIT}.")
    return request._replace(purpose=request.purpose.strip())


def read_period(since: str, until: str, now_ms: int, zone: tzinfo = UTC) -> TimeRange | None:
    """Return the time from the begin of *since* to the end of *until*, see `time_named`; an empty text is an open side."""
    first, last = (time_named(text, now_ms=now_ms, zone=zone) if text else None for text in (since, until))
    for text, named in ((since, first), (until, last)):
        if text and not named:
            message = f"{text!r} is no date. Write it like 2026-03-31, yesterday or last week."
            raise InvalidInput("INVALID_INPUT", message)
    start, end = first and first.authored_from, last and last.authored_until
    if start and end and end <= start:
        raise InvalidInput("INVALID_INPUT", f"{since} (since) is after {until} (until). Exchange them.")
    return TimeRange(start, end, 0, 0) if first or last else None


def scope_within(scope: Scope, named: TimeRange, zone: tzinfo) -> Scope:
    """Return *scope*, narrowed to a time of days in *zone*."""
    start = max(filter(None, (scope.authored_from, named.authored_from)), default=None)
    end = min(filter(None, (scope.authored_until, named.authored_until)), default=None)
    recorded = recorded_midnight(start, zone), recorded_midnight(end, zone)
    return Scope(scope.collections, start, end, scope.documents, *recorded)


def rewind_request(request: RetrievalRequest) -> RetrievalRequest:
    """
    Return *request* as if asked at its ``as_of``: later documents are ignored, and ages and "yesterday" refer to it.

    Idempotent; a request without ``as_of`` is returned unchanged.
    """
    moment_ms = parse_iso(request.as_of) if request.as_of else None
    if request.as_of is None or moment_ms is None:
        return request
    scope = scope_within(request.scope, TimeRange(None, request.as_of, 0, 0), request.question.zone)
    question = replace(request.question, now_ms=min(request.question.now_ms, moment_ms - 1))
    return request._replace(scope=scope, question=question)


def first_after(text: str, clock: Clock) -> str | None:
    """Return the first moment after the time that *text* names, in record format; ``None`` for an empty text."""
    period = read_period("", text, clock.now_ms(), clock.zone())
    return period and period.authored_until


def first_ms(text: str, clock: Clock) -> int | None:
    """Return the milliseconds since the Unix epoch at the begin of the time that *text* names; ``None`` for an empty text."""
    period = read_period(text, "", clock.now_ms(), clock.zone())
    return parse_iso(period.authored_from or "") if period else None


def last_day(text: str, clock: Clock) -> str | None:
    """Return the last day of the time that *text* names; ``None`` for an empty text."""
    period = read_period("", text, clock.now_ms(), clock.zone())
    return period.days(clock.zone())[1] if period else None
