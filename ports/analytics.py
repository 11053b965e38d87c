from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from clawmem.ports.records import Document
from clawmem.ports.telemetry import Recall

Cell = str | int | float | None


class Question(StrEnum):
    """
    What can be asked of the loaded documents and recalls; `COLUMNS` says what is answered, in which order.

    "Served" are documents that are not inactive; only they are counted, except by `INACTIVE`. A document was
    recalled by every recall that gave it in answer, once however many of its places were given. An age is
    whole days from when a document was authored until now, rounded down; a date to come has a negative one.
    A median or percentile is the smallest value that so many of the values do not exceed.
    """

    MOST_RECALLED = "most_recalled"  # most recalls first, then most different questions, then by name
    NEVER_RECALLED = "never_recalled"  # served, longest ago authored first, then by name
    GROWTH = "growth"  # by basis (authored, indexed), month and collection
    AGES = "ages"  # by collection
    STALENESS = "staleness"  # largest median age first, then by type
    COVERAGE = "coverage"  # by collection and content type
    INACTIVE = "inactive"  # by collection and reason
    USE = "use"  # by month, collection and content type
    SPEED = "speed"  # by verb
    DAYS = "days"  # by day and verb
    DEGRADED = "degraded"  # most answers first, then by verb and leg


COLUMNS: Mapping[Question, tuple[str, ...]] = {
    # recalls: how many; questions: different ones among them; best_rank: 1 is the top of the list.
    Question.MOST_RECALLED: (
        "document",
        "collection",
        "content_type",
        "recalls",
        "questions",
        "best_rank",
        "last_recalled_at",
    ),
    Question.NEVER_RECALLED: ("document", "collection", "content_type", "authored_at", "age_days"),
    # What the month added, and all there was at its end. Months that added nothing are left out.
    Question.GROWTH: (
        "basis",
        "month",
        "collection",
        "documents",
        "bytes",
        "documents_total",
        "bytes_total",
    ),
    # Documents by age in days, each in the first column that fits; future: below 0.
    Question.AGES: (
        "collection",
        "future",
        "under_7",
        "under_30",
        "under_90",
        "under_365",
        "older",
        "median_days",
    ),
    # overdue: whose review_by has come (it is not later than now).
    Question.STALENESS: (
        "content_type",
        "documents",
        "median_days",
        "oldest_days",
        "never_recalled",
        "overdue",
    ),
    # unembedded: not all of its vectors are there; recalled: documents that ever were; recalls: how often, added up.
    Question.COVERAGE: (
        "collection",
        "content_type",
        "documents",
        "bytes",
        "pinned",
        "unembedded",
        "recalled",
        "recalls",
    ),
    Question.INACTIVE: ("collection", "reason", "documents", "bytes"),
    # recalls that gave such a document, and how many such documents they gave.
    Question.USE: ("month", "collection", "content_type", "recalls", "documents"),
    # unanswered: without a hit; degraded: with a leg missing; times in milliseconds.
    Question.SPEED: ("verb", "recalls", "unanswered", "degraded", "p50_ms", "p95_ms", "slowest_ms"),
    Question.DAYS: ("day", "verb", "recalls", "unanswered", "degraded", "p50_ms", "p95_ms", "slowest_ms"),
    # share: of the verb's recalls.
    Question.DEGRADED: ("verb", "leg", "recalls", "share", "last_at"),
}


@dataclass(frozen=True, slots=True)
class Table:
    """An answer: the names of the columns and, in the order of the question, the rows."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def records(self) -> list[dict[str, Any]]:
        """The rows with their cells by name of the column."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


class Analytics(Protocol):
    """
    Questions about documents and their use, answered from a copy of the facts.

    Bytes are those of a document's file, or for one that is from no file the length of its body. All times
    are ISO-8601 UTC text as records carry them; days and months are those of UTC.
    """

    def load(self, documents: Iterable[Document], recalls: Iterable[Recall]) -> None:
        """
        Take in documents, each id once, and stored recalls; both are walked through once, and may be long.

        ``review_by`` is a time like the others, or ``None``. Hits of documents that are not among these
        count for a recall, and for nothing else. A second call adds to the first.
        """
        ...

    def ask(self, question: Question, *, now: str, limit: int | None = None) -> Table:
        """
        The answer to a question at the instant *now*: its first *limit* rows, ≥ 0, or with ``None`` all.

        Empty where nothing was loaded that it is about.
        """
        ...

    def export(self, folder: str) -> list[str]:
        """
        Write what was loaded to *folder*, which exists: one file for documents, recalls and hits each, by these names.

        Parquet where the engine can. A file of the same name is replaced.

        Returns:
            The paths written, in this order.

        Raises:
            InvalidInput: a file cannot be written there.
        """
        ...

    def close(self) -> None:
        """Give everything back; a second call does nothing."""
        ...
