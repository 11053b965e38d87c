"""Turns of a session, and what earlier prompts of it asked."""

from typing import NamedTuple

from clawmem.domain.documents.times import iso_utc
from clawmem.domain.text.words import query_hash
from clawmem.ports.telemetry import Recall

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


def gated(turns: Turns, prompt: str, now_ms: int) -> Recall:
    """Return the row of a prompt that the gate skipped: it stores no text, but keeps turn numbers complete."""
    recall = Recall(iso_utc(now_ms), CONTEXT_SURFACING, query_hash(prompt), took_ms=0.0, limit=0)
    number, prompt_id = len(turns.rows), turns.prompt_id
    return recall._replace(session_id=turns.session_id, turn_index=number, prompt_id=prompt_id)
