"""Recording of questions: their hash, duration and results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha1
from typing import TYPE_CHECKING, NamedTuple

from clawmem.domain.documents.times import iso_utc
from clawmem.ports.clock import Clock
from clawmem.ports.models import ModelAnswers
from clawmem.ports.telemetry import Recall, RecallHit, Receipts, Telemetry

if TYPE_CHECKING:  # imported lazily, as hooks without a result do not need it
    from clawmem.app.services.retrieval.answer import Answer

# Ten times as many as a question adds, so that old records shrink faster than new ones arrive. This takes a few
# milliseconds after the answer was sent.
FORGOTTEN_AT_ONCE = 50
ANSWERS_FORGOTTEN_AT_ONCE = 500  # model answers; a reranked question adds one per candidate

_HASH_DIGITS = 12
_DAY_MS = 86_400_000


class Retention(NamedTuple):
    """Retention times in whole days. With 0 days, no receipts are written and existing ones are deleted."""

    recall_days: int = 90
    receipt_days: int = 30


USUAL_RETENTION = Retention()


def query_hash(query: str) -> str:
    """Return 12 hex digits that identify a question, ignoring case and surrounding blanks."""
    asked = query.strip().lower().encode("utf-8", "surrogatepass")
    return sha1(asked, usedforsecurity=False).hexdigest()[:_HASH_DIGITS]


@dataclass(frozen=True, slots=True)
class Recalls:
    """
    Best-effort recorder of answers: its errors and delays never affect an answer.

    Args:
        answers: Cached model answers; old ones are deleted here, like old recalls.
        enabled: Whether anything is recorded; if not, existing receipts expire at once.
        forgets: Whether old records may be deleted; False for a vault that must not change.
    """

    telemetry: Telemetry
    clock: Clock
    receipts: Receipts | None = None
    answers: ModelAnswers | None = None
    enabled: bool = True
    forgets: bool = True
    retention: Retention = USUAL_RETENTION

    @property
    def keeps_receipts(self) -> bool:
        """Whether receipts are recorded: unlike recalls, they contain the question."""
        return self.enabled and self.retention.receipt_days > 0

    def record(
        self,
        answer: Answer,
        verb: str,
        ms: float,
        *,
        limit: int,
        receipt: Callable[[], bytes] | None = None,
        session_id: str | None = None,
        turn_index: int = 0,
        prompt_id: str = "",
    ) -> int | None:
        """
        Record one answer if possible; return its id or ``None``. Also delete some expired records.

        Args:
            ms: Duration of the answer in milliseconds.
            limit: Number of requested results.
            receipt: Returns the packed receipt; called only if receipts are recorded.
        """
        try:
            now_ms = self.clock.now_ms()
            if self.forgets:
                self._forget(now_ms)
            if self.enabled:
                content = receipt() if receipt and self.keeps_receipts else None
                ranks = enumerate(answer.results, start=1)
                recall = Recall(
                    asked_at=iso_utc(now_ms),
                    verb=verb,
                    query_hash=query_hash(answer.query),
                    took_ms=ms,
                    limit=limit,
                    degraded=tuple(answer.trace.degraded),
                    hits=tuple(RecallHit(result.document.id, rank, result.score) for rank, result in ranks),
                    session_id=session_id,
                    turn_index=turn_index,
                    prompt_id=prompt_id,
                )
                return self.telemetry.record(recall, content)
        except Exception:  # noqa: BLE001  errors of the recorder must not affect the answer
            return None
        return None

    def _forget(self, now_ms: int) -> None:
        if self.receipts:
            days = self.retention.receipt_days if self.keeps_receipts else 0
            self.receipts.trim(_before(now_ms, days), at_most=FORGOTTEN_AT_ONCE)
        old = _before(now_ms, self.retention.recall_days)
        self.telemetry.trim(old, at_most=FORGOTTEN_AT_ONCE)
        if self.answers:
            self.answers.trim(old, at_most=ANSWERS_FORGOTTEN_AT_ONCE)


def _before(now_ms: int, days: int) -> str:
    """Return the cut-off time of a retention: a midnight, so that records expire once a day."""
    if days <= 0:
        return iso_utc(now_ms)
    return iso_utc(now_ms // _DAY_MS * _DAY_MS - days * _DAY_MS)
