"""The diary of questions: what was asked, how long it took and what was given."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from clawmem.domain.documents.times import iso_utc
from clawmem.ports.clock import Clock
from clawmem.ports.digests import sha1
from clawmem.ports.model_answers import ModelAnswers
from clawmem.ports.named_tuple import NamedTuple
from clawmem.ports.receipts import Receipts
from clawmem.ports.telemetry import Recall, RecallHit, Telemetry

if TYPE_CHECKING:  # a hook that has nothing to say would pay for it
    from clawmem.app.services.retrieval.answer import Answer

# An order of magnitude more than one question adds, so that what is old goes faster than new comes; a few
# milliseconds of work, after an answer that stands already.
FORGOTTEN_AT_ONCE = 50
ANSWERS_FORGOTTEN_AT_ONCE = 500  # of models: a question that is read closely adds one for each candidate

_HASH_DIGITS = 12
_DAY_MS = 86_400_000


class Retention(NamedTuple):
    """For how many whole days what is kept; 0 days of receipts: none is written, and those there are go."""

    recall_days: int = 90
    receipt_days: int = 30


USUAL_RETENTION = Retention()


def query_hash(query: str) -> str:
    """The name of a question: 12 hex digits, the same whatever its case and the blanks around it."""
    asked = query.strip().lower().encode("utf-8", "surrogatepass")
    return sha1(asked, usedforsecurity=False).hexdigest()[:_HASH_DIGITS]


class Recalls:
    """
    Writes down what was answered, unless it is told not to; no answer ever fails or waits because of it.

    Args:
        answers: What models said on the way to an answer; kept elsewhere, forgotten here, as recalls are.
        enabled: Whether anything is written down; where not, receipts of before go.
        forgets: Whether what is old may be deleted: not in a vault that must stay as it is.
    """

    def __init__(
        self,
        telemetry: Telemetry,
        clock: Clock,
        receipts: Receipts | None = None,
        *,
        answers: ModelAnswers | None = None,
        enabled: bool = True,
        forgets: bool = True,
        retention: Retention = USUAL_RETENTION,
    ) -> None:
        self._telemetry = telemetry
        self._clock = clock
        self._receipts = receipts
        self._answers = answers
        self._enabled = enabled
        self._forgets = forgets
        self._retention = retention

    @property
    def keeps_receipts(self) -> bool:
        """Whether receipts are wanted: they hold the question's words, which recalls do not."""
        return self._enabled and self._retention.receipt_days > 0

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
        Keep one answer, if that is possible at once; the id it is kept under, or ``None``.

        What is older than it may get goes a little at a time, kept or not.

        Args:
            ms: How long it took, in milliseconds.
            limit: How many results were asked for.
            receipt: Makes the receipt; only called when one is kept.
        """
        kept = None
        try:
            now_ms = self._clock.now_ms()
            if self._forgets:
                self._forget(now_ms)
            if self._enabled:
                content = receipt() if receipt and self.keeps_receipts else None
                kept = self._telemetry.record(
                    _recall(answer, verb, ms, limit, now_ms)._replace(
                        session_id=session_id, turn_index=turn_index, prompt_id=prompt_id
                    ),
                    content,
                )
        except Exception:  # noqa: BLE001  whatever is wrong with the diary, the answer stands
            return None
        return kept

    def _forget(self, now_ms: int) -> None:
        if self._receipts:
            days = self._retention.receipt_days if self.keeps_receipts else 0
            self._receipts.trim(_before(now_ms, days), at_most=FORGOTTEN_AT_ONCE)
        old = _before(now_ms, self._retention.recall_days)
        self._telemetry.trim(old, at_most=FORGOTTEN_AT_ONCE)
        if self._answers:
            self._answers.trim(old, at_most=ANSWERS_FORGOTTEN_AT_ONCE)


def _before(now_ms: int, days: int) -> str:
    """The moment before which is old. At midnight, so that old things turn up once a day and not all day long."""
    if days <= 0:
        return iso_utc(now_ms)
    return iso_utc(now_ms // _DAY_MS * _DAY_MS - days * _DAY_MS)


def _recall(answer: Answer, verb: str, ms: float, limit: int, now_ms: int) -> Recall:
    results = enumerate(answer.results, start=1)
    return Recall(
        asked_at=iso_utc(now_ms),
        verb=verb,
        query_hash=query_hash(answer.query),
        took_ms=ms,
        limit=limit,
        degraded=tuple(answer.trace.degraded),
        hits=tuple(RecallHit(result.document.id, rank, result.score) for rank, result in results),
    )
