"""The diary of questions: what was asked, how long it took and what was given."""

from __future__ import annotations

from hashlib import sha1

from clawmem.app.services.retrieval.answer import Answer
from clawmem.domain.documents.times import iso_utc
from clawmem.ports.clock import Clock
from clawmem.ports.telemetry import Recall, RecallHit, Telemetry

_HASH_DIGITS = 12


def query_hash(query: str) -> str:
    """The name of a question: 12 hex digits, the same whatever its case and the blanks around it."""
    asked = query.strip().lower().encode("utf-8", "surrogatepass")
    return sha1(asked, usedforsecurity=False).hexdigest()[:_HASH_DIGITS]


class Recalls:
    """Writes down what was answered, unless it is told not to; no answer ever fails or waits because of it."""

    def __init__(self, telemetry: Telemetry, clock: Clock, *, enabled: bool = True) -> None:
        self._telemetry = telemetry
        self._clock = clock
        self._enabled = enabled

    def record(self, answer: Answer, verb: str, ms: float, *, limit: int) -> bool:
        """
        Keep one answer, if that is possible at once; whether it was kept.

        Args:
            ms: How long it took, in milliseconds.
            limit: How many results were asked for.
        """
        if not self._enabled:
            return False
        try:
            self._telemetry.record(_recall(answer, verb, ms, limit, self._clock.now_ms()))
        except Exception:  # noqa: BLE001  whatever is wrong with the diary, the answer stands
            return False
        return True


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
