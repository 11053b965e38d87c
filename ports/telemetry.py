"""Ports for the log of questions and their results, and for the receipts that explain the answers."""

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple, Protocol


class RecallHit(NamedTuple):
    """
    One document in an answer: its rank, from 1, and its score as reported by the interface that answered.

    ``was_referenced`` tells whether the conversation used the document afterwards.
    """

    document_id: int
    rank: int
    score: float
    was_referenced: bool = False


class Recall(NamedTuple):
    """
    One query answered by an interface, and its result.

    ``query_hash`` distinguishes queries; their text is not stored. ``verb`` is the command or the name of the
    hook that asked. ``degraded`` names the retrievers that were missing. ``id`` is 0 until the recall is
    stored. ``prompt_id`` is the client's identifier of the prompt, if it sent one.
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
    Best-effort log of queries and their results.

    The log is outside of the vault's transactions and can be written while the vault is open read-only. A change
    raises VaultLocked if another writer is active (it waits a few milliseconds at most), and VaultReadOnly or
    VaultFull if the vault cannot be written at all. Documents are named by unchecked ids; the hits of a deleted
    document remain. Recalls are ordered by time, oldest first, then by id; their hits by rank.
    """

    def record(self, recall: Recall, receipt: bytes | None = None) -> int:
        """
        Append a recall with its hits, all or nothing, and return its id, larger than the ids of all stored recalls.

        A *receipt* is stored with the recall, under the same id and time: see `Receipts`. The entry survives the end
        of the process, but not necessarily a power failure. Of several hits with one rank, one is stored.
        """

    def recalls(self, since: str | None = None, until: str | None = None) -> Iterator[Recall]:
        """
        Iterate the recalls from *since* (inclusive) until *until* (exclusive); ``None`` leaves that side open.

        Rows are read lazily: exhaust the iterator before the next change.
        """

    def mark_referenced(self, recall_id: int, document_ids: Collection[int]) -> int:
        """
        Mark documents of one recall as used by the conversation; return the number of hits not marked before.

        Ids that are not among the hits of the recall are ignored.
        """

    def of_session(self, session_id: str) -> Iterator[Recall]:
        """Iterate the recalls of one session."""

    def count(self) -> int:
        """Return the number of stored recalls."""

    def trim(self, before: str, *, at_most: int | None = None) -> int:
        """
        Delete the recalls asked before *before* (exclusive), with their hits and receipts; return their number.

        *at_most* limits the number of recalls deleted, oldest first. Nothing is written if no recall is that old.
        """


class StoredReceipt(NamedTuple):
    """
    Stored explanation of how an answer was produced. ``id`` is the id of its recall.

    ``content`` is opaque: the store returns the bytes unchanged and never interprets them.
    """

    id: int
    asked_at: str
    content: bytes


class ReceiptCounts(NamedTuple):
    """Number of receipts, and the total size of their contents in bytes."""

    stored: int = 0
    size_bytes: int = 0


class Receipts(Protocol):
    """
    Explanations of past answers, written by `Telemetry.record`; deleted with their recall, or earlier.

    They are written like the telemetry, with the same errors.
    """

    def get(self, receipt_id: int) -> StoredReceipt | None:
        """Return one receipt, or ``None`` if there is none with this id."""

    def latest(self, limit: int) -> list[StoredReceipt]:
        """
        Return up to *limit* receipts, most recently asked first, then by descending id. A limit below 1 returns none.
        """

    def forget(self, receipt_ids: Iterable[int]) -> int:
        """Delete these receipts but keep their recalls; return the number of receipts deleted."""

    def counts(self) -> ReceiptCounts:
        """Return the number of receipts and their total size."""

    def trim(self, before: str, *, at_most: int | None = None) -> int:
        """Delete the receipts of old recalls but keep the recalls; otherwise like `Telemetry.trim`."""
