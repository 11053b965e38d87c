from __future__ import annotations

from collections.abc import Collection, Iterator

from clawmem.adapters.memory.receipts import MemoryReceipts
from clawmem.ports.receipts import StoredReceipt
from clawmem.ports.telemetry import Recall


class MemoryTelemetry:
    """Reference ``Telemetry`` over a list."""

    def __init__(self, receipts: MemoryReceipts | None = None) -> None:
        self._recalls: list[Recall] = []
        self._receipts = receipts or MemoryReceipts()

    def record(self, recall: Recall, receipt: bytes | None = None) -> int:
        number = max((kept.id for kept in self._recalls), default=0) + 1
        hits = tuple(sorted(recall.hits, key=lambda hit: hit.rank))
        self._recalls.append(recall._replace(hits=hits, id=number))
        if receipt is not None:
            self._receipts.kept[number] = StoredReceipt(number, recall.asked_at, receipt)
        return number

    def recalls(self, since: str | None = None, until: str | None = None) -> Iterator[Recall]:
        for recall in sorted(self._recalls, key=lambda kept: (kept.asked_at, kept.id)):
            if (since is None or since <= recall.asked_at) and (until is None or recall.asked_at < until):
                yield recall

    def mark_referenced(self, recall_id: int, document_ids: Collection[int]) -> int:
        marked = 0
        for place, recall in enumerate(self._recalls):
            if recall.id == recall_id:
                hits = tuple(
                    hit._replace(was_referenced=hit.was_referenced or hit.document_id in document_ids)
                    for hit in recall.hits
                )
                marked = sum(new != old for new, old in zip(hits, recall.hits, strict=True))
                self._recalls[place] = recall._replace(hits=hits)
        return marked

    def of_session(self, session_id: str) -> Iterator[Recall]:
        return (recall for recall in self.recalls() if recall.session_id == session_id)

    def count(self) -> int:
        return len(self._recalls)

    def trim(self, before: str, *, at_most: int | None = None) -> int:
        gone = {recall.id for recall in list(self.recalls(until=before))[:at_most]}
        self._recalls = [recall for recall in self._recalls if recall.id not in gone]
        for number in gone:
            self._receipts.kept.pop(number, None)
        return len(gone)
