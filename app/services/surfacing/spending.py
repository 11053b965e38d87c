"""Usage report: tokens and documents surfaced per session, and how many documents were referenced."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from clawmem.app.services.surfacing.turns import CONTEXT_SURFACING, receipt_of
from clawmem.ports.telemetry import Recall, Receipts, Telemetry


class SurfacingUse(NamedTuple):
    """
    Surfacing statistics of one session.

    Attributes:
        session_id: Session of the prompts.
        last_asked: Time of the last prompt.
        prompts: Number of prompts.
        blocks: Number of prompts that received a block.
        tokens: Tokens of the blocks whose receipts are still stored.
        given: Number of surfaced documents.
        referenced: Number of surfaced documents that the conversation made use of.
    """

    session_id: str
    last_asked: str
    prompts: int
    blocks: int
    tokens: int
    given: int
    referenced: int

    @property
    def share_referenced(self) -> float:
        """Share of surfaced documents that the conversation made use of, 0 to 1."""
        return self.referenced / self.given if self.given else 0.0


def spent_by(telemetry: Telemetry, receipts: Receipts, session_id: str) -> SurfacingUse | None:
    """Return the statistics of one session; ``None`` if none are recorded."""
    rows = _surfacings(telemetry.of_session(session_id))
    return _spent(session_id, rows, receipts) if rows else None


def spent_lately(telemetry: Telemetry, receipts: Receipts, since: str, sessions: int) -> list[SurfacingUse]:
    """Return the statistics of the latest *sessions* with prompts since *since*, newest first."""
    by_session: dict[str, list[Recall]] = {}
    for row in _surfacings(telemetry.recalls(since)):
        if row.session_id:
            by_session.setdefault(row.session_id, []).append(row)
    latest = sorted(by_session, key=lambda name: by_session[name][-1].asked_at, reverse=True)[:sessions]
    return [_spent(name, by_session[name], receipts) for name in latest]


def _surfacings(rows: Iterable[Recall]) -> list[Recall]:
    return [row for row in rows if row.verb == CONTEXT_SURFACING]


def _spent(session_id: str, rows: list[Recall], receipts: Receipts) -> SurfacingUse:
    hits = [hit for row in rows for hit in row.hits]
    return SurfacingUse(
        session_id=session_id,
        last_asked=rows[-1].asked_at,
        prompts=len(rows),
        blocks=sum(bool(row.hits) for row in rows),
        tokens=sum(_tokens(receipts, row) for row in rows if row.hits),
        given=len(hits),
        referenced=sum(hit.was_referenced for hit in hits),
    )


def _tokens(receipts: Receipts, row: Recall) -> int:
    receipt = receipt_of(receipts, row)
    return int(receipt.asked.get("tokens", 0)) if receipt else 0
