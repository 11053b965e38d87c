from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol


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
    Explanations of past answers, written by `clawmem.ports.telemetry.Telemetry.record`.

    A receipt is deleted with its recall, or earlier. Like the telemetry, it is outside of the vault's
    transactions.
    """

    def get(self, receipt_id: int) -> StoredReceipt | None:
        """Return one receipt, or ``None`` if there is none with this id."""

    def latest(self, limit: int) -> list[StoredReceipt]:
        """
        Return up to *limit* receipts, most recently asked first, then by descending id. A limit below 1 returns none.
        """

    def forget(self, receipt_ids: Iterable[int]) -> int:
        """
        Delete these receipts but keep their recalls.

        See `clawmem.ports.telemetry.Telemetry.trim` for vaults opened read-only and for errors.

        Returns:
            The number of receipts deleted.
        """

    def counts(self) -> ReceiptCounts:
        """Return the number of receipts and their total size."""

    def trim(self, before: str, *, at_most: int | None = None) -> int:
        """
        Delete the receipts of recalls asked before *before* (exclusive), but keep the recalls.

        See `clawmem.ports.telemetry.Telemetry.trim` for *at_most*, for vaults opened read-only, and for
        errors.

        Returns:
            The number of receipts deleted.
        """
