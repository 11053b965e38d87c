from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from clawmem.ports.records import Document
from clawmem.ports.telemetry import Recall


class Question(StrEnum):
    """
    Report over the loaded documents and recalls; `COLUMNS` lists the columns of each report.

    Served documents alone count. A recall counts once for each document among its hits.
    An age is the number of whole days between the time at which a document was authored and now, rounded down, and
    negative for the future. A percentile is the smallest value that at least that percentage of the values do not
    exceed.
    """

    MOST_RECALLED = "most_recalled"  # most recalls first, then most distinct questions, then by name
    NEVER_RECALLED = "never_recalled"  # served documents, oldest first, then by name
    GROWTH = "growth"  # by basis (authored, indexed), month and collection
    STALENESS = "staleness"  # largest median age first, then by type
    COVERAGE = "coverage"  # by collection and content type
    SPEED = "speed"  # by verb


_COLUMNS = {
    # questions: number of distinct questions among the recalls; best_rank: 1 is the top rank.
    Question.MOST_RECALLED: "document collection content_type recalls questions best_rank last_recalled_at",
    Question.NEVER_RECALLED: "document collection content_type authored_at age_days",
    # documents, bytes: added in the month; *_total: at its end. Months without additions are omitted.
    Question.GROWTH: "basis month collection documents bytes documents_total bytes_total",
    # overdue: review_by is not later than now.
    Question.STALENESS: "content_type documents median_days oldest_days never_recalled overdue",
    # unembedded: documents that lack a vector; recalled: documents with a recall; recalls: sum over documents.
    Question.COVERAGE: "collection content_type documents bytes pinned unembedded recalled recalls",
    # unanswered: without a hit; degraded: at least one retriever was missing; times in milliseconds.
    Question.SPEED: "verb recalls unanswered degraded p50_ms p95_ms slowest_ms",
}
COLUMNS: Mapping[Question, tuple[str, ...]] = {
    question: tuple(names.split()) for question, names in _COLUMNS.items()
}


@dataclass(frozen=True, slots=True)
class VaultReport:
    """
    The records of each question at the time *now*, with recalls *since* a time (``None``: all).

    ``top`` is the number of rows of a long table that are shown.
    """

    now: str
    since: str | None
    documents: int
    recalls: int
    top: int
    tables: dict[Question, list[dict[str, Any]]]


class Analytics(Protocol):
    """
    Engine that answers reports about documents and their use from a copy of the data.

    A document's size is that of its file, or the length of its body if it has none. Times are those of records; days
    and months are in UTC.
    """

    def load(self, documents: Iterable[Document], recalls: Iterable[Recall]) -> None:
        """Add documents (each id once) and recalls; a hit on a missing document counts for its recall alone."""

    def ask(self, question: Question, *, now: str, limit: int | None = None) -> list[dict[str, Any]]:
        """Return the records of *question* at *now* by their columns: the first *limit*, or all with ``None``."""

    def close(self) -> None:
        """Release all resources; a second call does nothing."""
