"""Ports for the log of questions and their results, the receipts that explain the answers, and reports about both."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple, Protocol

from clawmem.ports.records import Document


class RecallHit(NamedTuple):
    """One document in an answer: its rank from 1, its score, and whether the conversation used it afterwards."""

    document_id: int
    rank: int
    score: float
    was_referenced: bool = False


class Recall(NamedTuple):
    """
    One query answered by an interface, and its result; ``id`` is 0 until it is stored.

    ``query_hash`` distinguishes queries; their text is not stored. ``verb`` is the command or hook that asked.
    ``degraded`` names the missing retrievers. ``prompt_id`` is the client's identifier of the prompt, if it sent one.
    """

    asked_at: str
    verb: str
    query_hash: str
    took_ms: float
    limit: int
    degraded: tuple[str, ...] = ()
    hits: tuple[RecallHit, ...] = ()
    session_id: str | None = None
    turn_index: int = 0
    id: int = 0
    prompt_id: str = ""


class Telemetry(Protocol):
    """
    Best-effort log of queries and their results, outside of the vault's transactions.

    It can be written while the vault is open read-only. A change raises VaultLocked if another writer is active for
    some milliseconds, and VaultReadOnly or VaultFull if the vault cannot be written at all. Document ids are not
    checked. Recalls are ordered by time, oldest first, then by id; their hits by rank.
    """

    def record(self, recall: Recall, receipt: bytes | None = None) -> int:
        """
        Append a recall with its hits and a *receipt*, all or nothing, and return its id, larger than all stored ids.

        The entry survives the end of the process, but not necessarily a power failure.
        """

    def recalls(self, since: str | None = None, session_id: str | None = None) -> Iterator[Recall]:
        """Iterate the recalls from *since* (of one session); exhaust the iterator before the next change."""

    def mark_referenced(self, recall_id: int, document_ids: Collection[int]) -> int:
        """Mark hits of one recall as used by the conversation, and return the number of those not marked before."""

    def count(self) -> int:
        """Return the number of stored recalls."""

    def trim(self, before: str, *, at_most: int | None = None) -> int:
        """Delete the recalls asked before *before*, the oldest *at_most*, with their receipts; return their number."""


class StoredReceipt(NamedTuple):
    """Explanation of how an answer was produced, as opaque bytes. ``id`` is the id of its recall."""

    id: int
    asked_at: str
    content: bytes


class ReceiptCounts(NamedTuple):
    """Number of receipts, and the total size of their contents in bytes."""

    stored: int = 0
    size_bytes: int = 0


class Receipts(Protocol):
    """Explanations of past answers, written by `Telemetry.record`; deleted with their recall, or earlier."""

    def get(self, receipt_id: int) -> StoredReceipt | None:
        """Return one receipt, or ``None`` if there is none with this id."""

    def latest(self, limit: int) -> list[StoredReceipt]:
        """Return up to *limit* receipts, most recently asked first, then by descending id."""

    def forget(self, receipt_ids: Iterable[int]) -> int:
        """Delete these receipts but keep their recalls; return the number of receipts deleted."""

    def counts(self) -> ReceiptCounts:
        """Return the number of receipts and their total size."""

    def trim(self, before: str, *, at_most: int | None = None) -> int:
        """Delete the receipts of old recalls but keep the recalls; otherwise like `Telemetry.trim`."""


class Question(StrEnum):
    """
    Report over the loaded documents and recalls; `COLUMNS` lists the columns of each report.

    Served documents alone count. A recall counts once for each document among its hits. An age is the number of whole
    days between the time at which a document was authored and now, rounded down, and negative for the future. A
    percentile is the smallest value that at least that percentage of the values do not exceed.
    """

    MOST_RECALLED = "most_recalled"  # most recalls first, then most distinct questions, then by name
    NEVER_RECALLED = "never_recalled"  # served documents, oldest first, then by name
    GROWTH = "growth"  # by basis (authored, indexed), month and collection
    STALENESS = "staleness"  # largest median age first, then by type
    COVERAGE = "coverage"  # by collection and content type
    SPEED = "speed"  # by verb


COLUMNS: Mapping[Question, Sequence[str]] = {
    # questions: number of distinct questions among the recalls; best_rank: 1 is the top rank.
    Question.MOST_RECALLED: "document collection content_type recalls questions best_rank last_recalled_at".split(),
    Question.NEVER_RECALLED: "document collection content_type authored_at age_days".split(),
    # documents, bytes: added in the month; *_total: at its end. Months without additions are omitted.
    Question.GROWTH: "basis month collection documents bytes documents_total bytes_total".split(),
    # overdue: review_by is not later than now.
    Question.STALENESS: "content_type documents median_days oldest_days never_recalled overdue".split(),
    # unembedded: documents that lack a vector; recalled: documents with a recall; recalls: sum over documents.
    Question.COVERAGE: "collection content_type documents bytes pinned unembedded recalled recalls".split(),
    # unanswered: without a hit; degraded: at least one retriever was missing; times in milliseconds.
    Question.SPEED: "verb recalls unanswered degraded p50_ms p95_ms slowest_ms".split(),
}


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
