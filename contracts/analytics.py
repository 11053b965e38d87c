from collections.abc import Sequence
from typing import Any

import pytest

from clawmem.contracts.base import Contract
from clawmem.contracts.samples import document
from clawmem.ports.records import Document, EmbedState, InactiveReason, SourceStamp
from clawmem.ports.telemetry import COLUMNS, Analytics, Question, Recall, RecallHit

NOW = "2024-07-01T12:00:00.000Z"
APRIL = "2024-04-20T12:00:00.000Z"
MAY = "2024-05-02T12:00:00.000Z"
JUNE = "2024-06-30T12:00:00.000Z"


def fact(number: int, path: str, authored_at: str = APRIL, **rest: Any) -> Document:
    """Return a stored document that was indexed in May; its file has 100 bytes."""
    given: dict[str, Any] = {"indexed_at": MAY, "stamp": SourceStamp(100, 1), "id": number}
    return document(path, authored_at=authored_at, **(given | rest))


def recall(number: int, at: str, *document_ids: int, verb: str = "search", **rest: Any) -> Recall:
    """Return a stored recall that returned these documents, the first at rank 1."""
    hits = tuple(RecallHit(found, rank, 0.5) for rank, found in enumerate(document_ids, start=1))
    given: dict[str, Any] = {"query_hash": f"{number:012x}", "took_ms": 10.0, "limit": 10}
    return Recall(at, verb, hits=hits, id=number, **(given | rest))


DOCUMENTS = (
    fact(1, "a.md", pinned=True, embed_state=EmbedState.SYNCED),
    fact(2, "b.md", JUNE, content_type="decision", review_by=NOW),
    fact(3, "c.md", "2023-01-01T00:00:00.000Z", collection="work", stamp=None, body_length=7),
    fact(4, "gone.md", collection="work", inactive=InactiveReason.ARCHIVED),
)


def answer(
    analytics: Analytics, question: Question, limit: int | None = None
) -> Sequence[tuple[object, ...]]:
    """Return the rows of a report at `NOW`, each with the columns of its question."""
    records = analytics.ask(question, now=NOW, limit=limit)
    assert all(list(record) == COLUMNS[question] for record in records)
    return tuple(tuple(record.values()) for record in records)


class AnalyticsContract(Contract):
    """Reports about documents and their use. Supply ``analytics``: an EMPTY ``Analytics``."""

    @pytest.mark.parametrize("question", Question)
    def test_nothing_loaded(self, analytics: Analytics, question: Question) -> None:
        """A report has no rows while nothing is loaded."""
        assert answer(analytics, question) == ()

    def test_growth(self, analytics: Analytics) -> None:
        """The report counts documents and bytes by month of authoring and of indexing, with totals."""
        analytics.load(DOCUMENTS, [])

        assert answer(analytics, Question.GROWTH) == (
            ("authored", "2023-01", "work", 1, 7, 1, 7),
            ("authored", "2024-04", "notes", 1, 100, 1, 100),
            ("authored", "2024-06", "notes", 1, 100, 2, 200),
            ("indexed", "2024-05", "notes", 2, 200, 2, 200),
            ("indexed", "2024-05", "work", 1, 7, 1, 7),
        )

    def test_staleness(self, analytics: Analytics) -> None:
        """The report lists by type: documents, ages, never recalled ones, and reviews overdue or due now."""
        analytics.load(DOCUMENTS, [recall(1, MAY, 2)])

        assert answer(analytics, Question.STALENESS) == (
            ("note", 2, 72, 547, 2, 0),
            ("decision", 1, 1, 1, 0, 1),
        )

    def test_coverage(self, analytics: Analytics) -> None:
        """The report lists per collection and type: documents, bytes, pins, missing vectors, and recalls."""
        analytics.load([*DOCUMENTS, fact(5, "d.md")], [recall(1, MAY, 1, 3, 1), recall(2, MAY, 1)])

        assert answer(analytics, Question.COVERAGE) == (
            ("notes", "decision", 1, 100, 0, 1, 0, 0),
            ("notes", "note", 2, 200, 1, 1, 1, 2),
            ("work", "note", 1, 7, 0, 1, 1, 1),
        )

    def test_most_recalled(self, analytics: Analytics) -> None:
        """Documents are ordered by recalls, distinct questions, then name; hits of one recall count once."""
        recalls = [
            recall(1, APRIL, 2, 1, 1),
            recall(2, JUNE, 1, query_hash="same"),
            recall(3, MAY, 1, 3, query_hash="same"),
            recall(4, MAY, 3),
        ]
        analytics.load(DOCUMENTS, recalls)

        assert answer(analytics, Question.MOST_RECALLED) == (
            ("notes/a.md", "notes", "note", 3, 2, 1, JUNE),
            ("work/c.md", "work", "note", 2, 2, 1, MAY),
            ("notes/b.md", "notes", "decision", 1, 1, 1, APRIL),
        )

    def test_never_recalled(self, analytics: Analytics) -> None:
        """Served documents without a recall are listed, oldest first, then by name."""
        early = fact(6, "0.md")
        analytics.load([*DOCUMENTS, early], [recall(1, MAY, 2, 999)])

        assert answer(analytics, Question.NEVER_RECALLED) == (
            ("work/c.md", "work", "note", "2023-01-01T00:00:00.000Z", 547),
            ("notes/0.md", "notes", "note", APRIL, 72),
            ("notes/a.md", "notes", "note", APRIL, 72),
        )

    def test_speed(self, analytics: Analytics) -> None:
        """The report lists by verb: recalls, unanswered and degraded ones, and percentiles of observed values."""
        twenty = [recall(n, MAY, 1, took_ms=float(n)) for n in range(1, 21)]
        odd = recall(21, JUNE, verb="query", degraded=("vector", "lexical"), took_ms=0.25)
        analytics.load(DOCUMENTS, [*twenty, odd])

        assert answer(analytics, Question.SPEED) == (
            ("query", 1, 1, 1, 0.25, 0.25, 0.25),
            ("search", 20, 0, 0, 10.0, 19.0, 20.0),
        )
