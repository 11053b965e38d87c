"""The turns of a session that are recorded, and their receipts."""

from __future__ import annotations

from clawmem.app.services.retrieval.receipts import Receipt, unpack
from clawmem.domain.surfacing.turns import CONTEXT_SURFACING, Turns
from clawmem.ports.telemetry import Recall, Receipts, Telemetry


def turns_of(telemetry: Telemetry, session_id: str, prompt_id: str = "") -> Turns:
    """Return the turns of a session; without an id, turns that belong to no session."""
    if not session_id:
        return Turns(None)
    rows = (row for row in telemetry.recalls(session_id=session_id) if row.verb == CONTEXT_SURFACING)
    return Turns(session_id, tuple(rows), prompt_id)


def receipt_of(receipts: Receipts, row: Recall) -> Receipt | None:
    """Return the receipt of a turn; ``None`` if it was deleted, is damaged, or of a later clawmem."""
    stored = receipts.get(row.id)
    return unpack(stored.content) if stored else None
