"""Parameters of questions, and the answers of all search operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NotRequired, cast

from pydantic import Field
from typing_extensions import TypedDict

from clawmem.app.bootstrap.services import Services
from clawmem.app.interfaces.cli.rendering import answer_record, result_record, share
from clawmem.app.interfaces.cli.retrieval import Given, Question, given_to
from clawmem.app.interfaces.rest.operation import Asked
from clawmem.app.records.parameters import AsOf, Floor, Limit, MinScore, ShowAll, Since, Until
from clawmem.app.records.provenance import provenance_of, title_of
from clawmem.app.records.succession import Successor, successor_of
from clawmem.app.services.retrieval.answer import Answer, Result
from clawmem.app.services.retrieval.pipelines.query_plan import PlannedClause
from clawmem.app.services.retrieval.request import RetrievalRequest, Unit
from clawmem.domain.retrieval.query_forms import MAX_QUERY
from clawmem.domain.security.quoting import without_orders
from clawmem.ports.origin import Origin
from clawmem.ports.sessions import Session

SNIPPET = 200  # characters, in a compact answer

# Keys of `result_record` with another published name. Its relative path is left out: `path` is the full path.
PUBLISHED_KEYS = {
    "file": "path",
    "content_type": "contentType",
    "authored_at": "authoredAt",
    "modified_at": "modifiedAt",
    "start_line": "startLine",
    "end_line": "endLine",
    "snippet_line": "snippetLine",
    "superseded_by": "supersededBy",
}

Names = str | list[str]  # one name, several names, or several names separated by commas


class AnyQuestion(Asked):
    """Parameters of every search operation."""

    query: str = Field(min_length=1, max_length=MAX_QUERY, description="The question.")
    limit: Limit = 10
    collection: Names = Field([], description="Only these collections, in a list or with commas.")
    since: Since = ""
    until: Until = ""
    as_of: AsOf = ""
    content_type: Names = Field([], description="Only what is of one of these content types.")
    tag: Names = Field([], description="Only what carries each of these tags.")
    floor: Floor = 0.0
    show_all: ShowAll = False
    compact: bool = Field(
        True, description="Only the main keys of each answer; otherwise all keys, and the document's text."
    )
    explain: bool = Field(False, description="How each score and the list came about; never compact.")

    def question(self) -> Question:
        """Return the question as the command line represents it."""
        return Question(
            [self.query],
            self.limit,
            listed(self.collection),
            since=self.since,
            until=self.until,
            as_of=self.as_of,
            content_types=listed(self.content_type),
            tags=listed(self.tag),
            floor=self.floor,
            show_all=self.show_all,
        )


class ScoredQuestion(AnyQuestion):
    """A question with a minimum score."""

    min_score: MinScore = 0.0
    unit: Unit = Field(Unit.DOCUMENT, description="What an answer is.")

    def question(self) -> Question:
        """Return the question as the command line represents it."""
        return super().question()._replace(min_score=self.min_score, unit=self.unit)


class Found(TypedDict):
    """One result in short form. ``docid`` has no ``#`` here; ``path`` begins with the collection."""

    docid: str
    path: str
    title: str
    origin: Origin
    trusted: bool
    score: float
    contentType: str
    snippet: str
    supersededBy: Successor | None


class FoundWhole(Found):
    """One result in full: the keys of the short form, and more. An explained answer has the last four keys."""

    collection: str
    confidence: float | None
    likelihood: str | None
    startLine: int
    endLine: int
    heading: str
    authoredAt: str
    modifiedAt: str
    snippetLine: int
    body: NotRequired[str]
    relevance: NotRequired[float]
    legs: NotRequired[dict[str, float]]
    terms: NotRequired[dict[str, float]]
    ranks: NotRequired[dict[str, Any]]


class Answered(TypedDict):
    """
    Results, best first, and the answerability. ``degraded`` maps unused parts of the search to reasons.

    ``mode``, ``intent``, ``confidence``, ``clauses``, ``plan`` and ``sessions`` are set by the operations that
    determine them, ``trace`` and ``receipt`` in an explained answer.
    """

    query: str
    count: int
    answered: float | None
    hidden: int
    results: list[Found] | list[FoundWhole]
    degraded: dict[str, str]
    mode: NotRequired[str]
    intent: NotRequired[str]
    confidence: NotRequired[float]
    clauses: NotRequired[int]
    plan: NotRequired[list[PlannedClause]]
    sessions: NotRequired[list[Session]]
    trace: NotRequired[dict[str, Any]]
    receipt: NotRequired[int | None]


def answered(
    services: Services,
    asked: AnyQuestion,
    verb: str,
    ask: Callable[[RetrievalRequest], Answer],
    said: Callable[[Any], Mapping[str, Any]] = lambda found: {},
) -> dict[str, Any]:
    """
    Ask, store a receipt, and return the answer as a record.

    Args:
        verb: The verb under which the receipt is stored.
        said: Returns the members of the answer other than its results.
    """
    given = given_to(services, verb, asked.question(), ask)
    found = given.answer
    record = {**_record(given, asked), "count": len(found.results), "degraded": found.trace.degraded}
    return {**record, **said(found)}


def listed(names: Names) -> list[str]:
    """Return *names*, given as a list or separated by commas, as a list."""
    several = names.split(",") if isinstance(names, str) else names
    return [name for name in map(str.strip, several) if name]


def _record(given: Given, asked: AnyQuestion) -> dict[str, Any]:
    found = given.answer
    if asked.explain:
        receipt = given.receipt()
        record = answer_record(found, receipt, given.record(lambda: receipt))
        return {**record, "results": [published_record(one) for one in cast(Any, record["results"])]}
    given.record(given.receipt)
    shown = [_compact(result) if asked.compact else _whole(result) for result in found.results]
    return {
        "query": found.query,
        "answered": share(found.answered),
        "hidden": found.trace.hidden,
        "results": shown,
    }


def published_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a result record with the keys and the docid (without ``#``) that compact answers have."""
    named = {PUBLISHED_KEYS.get(key, key): value for key, value in record.items() if key != "path"}
    return {**named, "docid": str(named["docid"]).removeprefix("#")}


def _whole(result: Result) -> dict[str, object]:
    body = without_orders(result.body, result.document.origin)
    return {**published_record(result_record(result)), "body": body}


def _compact(result: Result) -> Found:
    document = result.document
    return {
        "docid": result.docid,
        "path": document.display_path,
        "title": title_of(document),
        **provenance_of(document.origin),
        "score": round(result.score, 3),
        "contentType": document.content_type,
        "snippet": result.in_short(SNIPPET).text,
        "supersededBy": successor_of(result.superseded_by),
    }
