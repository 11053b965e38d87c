from __future__ import annotations

from collections.abc import Iterable

from clawmem.ports.receipts import ReceiptCounts, StoredReceipt


class MemoryReceipts:
    """Reference ``Receipts`` over a dictionary, filled by `MemoryTelemetry`."""

    def __init__(self) -> None:
        self.kept: dict[int, StoredReceipt] = {}

    def get(self, receipt_id: int) -> StoredReceipt | None:
        return self.kept.get(receipt_id)

    def latest(self, limit: int) -> list[StoredReceipt]:
        newest_first = sorted(self.kept.values(), key=lambda one: (one.asked_at, one.id), reverse=True)
        return newest_first[: max(0, limit)]

    def forget(self, receipt_ids: Iterable[int]) -> int:
        there = self.kept.keys() & set(receipt_ids)
        for number in there:
            del self.kept[number]
        return len(there)

    def counts(self) -> ReceiptCounts:
        return ReceiptCounts(len(self.kept), sum(len(one.content) for one in self.kept.values()))

    def trim(self, before: str, *, at_most: int | None = None) -> int:
        old = [one for one in reversed(self.latest(len(self.kept))) if one.asked_at < before]
        for one in old[:at_most]:
            del self.kept[one.id]
        return len(old[:at_most])
