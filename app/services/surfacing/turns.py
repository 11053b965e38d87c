"""Turns of a session, and what earlier prompts of it asked."""

from __future__ import annotations

from typing import NamedTuple

from clawmem.app.services.retrieval.receipts import Receipt, unpack
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.text.words import query_hash
from clawmem.ports.telemetry import Recall, Receipts, Telemetry

CONTEXT_SURFACING = "context-surfacing"


class Turns(NamedTuple):
    """Earlier turns of a session, oldest first, the client's id of the current prompt, and the hook that asks."""

    session_id: str | None
    rows: tuple[Recall, ...] = ()
    prompt_id: str = ""
    verb: str = CONTEXT_SURFACING

    def blocks_since(self, moment: str = "") -> int:
        """Return the number of prompts that received a block after *moment*; all of them if it is empty."""
        return sum(bool(row.hits) and row.asked_at > moment for row in self.rows)

    def seen(self, prompt: str, now_ms: int, within_s: float) -> bool:
        """Whether this session asked the same *prompt* within the last *within_s* seconds; false if that is 0."""
        since, prompt_hash = iso_utc(now_ms - round(within_s * 1000)), query_hash(prompt)
        return within_s > 0 and any(
            row.query_hash == prompt_hash and row.asked_at >= since for row in self.rows
        )


def turns_of(telemetry: Telemetry, session_id: str, prompt_id: str = "") -> Turns:
    """Return the turns of a session; without an id, turns that belong to no session."""
    if not session_id:
        return Turns(None)
    rows = (row for row in telemetry.recalls(session_id=session_id) if row.verb == CONTEXT_SURFACING)
    return Turns(session_id, tuple(rows), prompt_id)


def gated(turns: Turns, prompt: str, now_ms: int) -> Recall:
    """Return the row of a prompt that the gate skipped: it stores no text, but keeps turn numbers complete."""
    recall = Recall(iso_utc(now_ms), CONTEXT_SURFACING, query_hash(prompt), took_ms=0.0, limit=0)
    number, prompt_id = len(turns.rows), turns.prompt_id
    return recall._replace(session_id=turns.session_id, turn_index=number, prompt_id=prompt_id)


def receipt_of(receipts: Receipts, row: Recall) -> Receipt | None:
    """Return the receipt of a turn; ``None`` if it was deleted, is damaged, or of a later clawmem."""
    stored = receipts.get(row.id)
    return unpack(stored.content) if stored else None
