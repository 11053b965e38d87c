from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from clawmem.ports.named_tuple import NamedTuple


class StoredReceipt(NamedTuple):
    """
    What is kept of how an answer came about. ``id`` is that of its recall.

    ``content`` belongs to who wrote it; a store gives it back as it was and never looks inside.
    """

    id: int
    asked_at: str
    content: bytes


class ReceiptCounts(NamedTuple):
    """How many receipts there are, and how many bytes their contents take."""

    stored: int = 0
    size_bytes: int = 0


class Receipts(Protocol):
    """
    How answers came about, for who asks later; written by `clawmem.ports.telemetry.Telemetry.record`.

    A receipt goes when its recall goes, or earlier. Like the telemetry it stands outside of the vault's
    transactions.
    """

    def get(self, receipt_id: int) -> StoredReceipt | None:
        """One receipt; ``None`` when there is none of this id, or not any more."""
        ...

    def latest(self, limit: int) -> list[StoredReceipt]:
        """Up to *limit* receipts, the last one asked for first, then by id downwards. A limit below 1 gives none."""
        ...

    def forget(self, receipt_ids: Iterable[int]) -> int:
        """
        Delete these receipts and keep their recalls; how many there were.

        See `clawmem.ports.telemetry.Telemetry.trim` for vaults opened for reading and for errors.
        """
        ...

    def counts(self) -> ReceiptCounts:
        """How many there are and how large they are together."""
        ...

    def trim(self, before: str, *, at_most: int | None = None) -> int:
        """
        Forget the receipts of what was asked before *before* (exclusive), and keep the recalls; how many went.

        See `clawmem.ports.telemetry.Telemetry.trim` for *at_most*, for vaults opened for reading, and for errors.
        """
        ...
