"""Turns of a session, and follow-up prompts that depend on earlier ones."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from clawmem.app.services.retrieval.recalls import query_hash
from clawmem.app.services.retrieval.receipts import unpack_if_readable
from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.work import Candidate, Trace, Work
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.surfacing.refers_back import (
    ADDED_SHARE,
    COMPLETE,
    LEAST_SHARE,
    LOOK_BACK,
    MOST_MINUTES,
    content_words,
    looking_back,
    refers_back,
)
from clawmem.ports.telemetry import Recall, Receipts, Telemetry

if TYPE_CHECKING:
    from clawmem.app.services.retrieval.receipts import Receipt

CONTEXT_SURFACING = "context-surfacing"
SEEN_WITHIN_S = 600.0

_MINUTE_MS = 60_000

Ranked = tuple[Work, Trace]


class Turns(NamedTuple):
    """Earlier turns of a session, oldest first, and the client's id of the current prompt."""

    session_id: str | None
    rows: tuple[Recall, ...] = ()
    prompt_id: str = ""

    @property
    def number(self) -> int:
        """The number of this turn, from 0."""
        return len(self.rows)

    def blocks_since(self, moment: str = "") -> int:
        """Return the number of prompts that received a block after *moment*; all of them if it is empty."""
        return sum(bool(row.hits) and row.asked_at > moment for row in self.rows)

    def seen(self, prompt: str, now_ms: int, within_s: float = SEEN_WITHIN_S) -> bool:
        """Whether this session asked the same *prompt* within the last *within_s* seconds; false if that is 0."""
        since, asked = iso_utc(now_ms - round(within_s * 1000)), query_hash(prompt)
        return within_s > 0 and any(row.query_hash == asked and row.asked_at >= since for row in self.rows)


def turns_of(telemetry: Telemetry, session_id: str, prompt_id: str = "") -> Turns:
    """Return the turns of a session; without an id, turns that belong to no session."""
    if not session_id:
        return Turns(None)
    rows = (row for row in telemetry.of_session(session_id) if row.verb == CONTEXT_SURFACING)
    return Turns(session_id, tuple(rows), prompt_id)


def gated(turns: Turns, prompt: str, now_ms: int) -> Recall:
    """Return the row of a prompt that the gate skipped: it stores no text, but keeps turn numbers complete."""
    return Recall(
        asked_at=iso_utc(now_ms),
        verb=CONTEXT_SURFACING,
        query_hash=query_hash(prompt),
        took_ms=0.0,
        limit=0,
        session_id=turns.session_id,
        turn_index=turns.number,
        prompt_id=turns.prompt_id,
    )


class Earlier(NamedTuple):
    """
    Last prompts of a session, newest first, and the ``places`` that were surfaced for them.

    A place is a document id and the first line shown of that document.
    """

    questions: tuple[str, ...] = ()
    places: frozenset[tuple[int, int]] = frozenset()


def asked_before(turns: Turns, receipts: Receipts, now_ms: int) -> Earlier:
    """
    Return the last prompts of the session and the places surfaced for them, from stored receipts.

    Without receipts there are no earlier prompts. Prompts that the gate skipped have no receipt.
    """
    since = iso_utc(now_ms - MOST_MINUTES * _MINUTE_MS)
    recent = [row for row in reversed(turns.rows) if row.asked_at > since]
    found = (receipt_of(receipts, row) for row in recent)
    kept = list(
        islice((one for one in found if one and one.question), LOOK_BACK + 1)
    )  # one more, because one may equal the current prompt
    places = ((item.document_id, item.start_line) for one in kept for item in one.items)
    return Earlier(tuple(one.question for one in kept), frozenset(places))


def receipt_of(receipts: Receipts, row: Recall) -> Receipt | None:
    """Return the receipt of a turn; ``None`` if it was deleted, is damaged, or of a later clawmem."""
    stored = receipts.get(row.id)
    return unpack_if_readable(stored.content) if stored else None


def is_fragment(prompt: str) -> bool:
    """Whether *prompt* refers back and has no content words, so that its results alone are meaningless."""
    return refers_back(prompt) and content_words(prompt) == 0


def depends_on_earlier(prompt: str, answered: bool) -> bool:
    """
    Whether *prompt* must be retrieved together with earlier prompts.

    Args:
        answered: Whether *prompt* alone found candidates; then even a single content word is enough.
    """
    return refers_back(prompt) or not (answered or content_words(prompt) >= COMPLETE)


def with_earlier(
    request: RetrievalRequest, alone: Ranked, earlier: Earlier, rank: Callable[[RetrievalRequest], Ranked]
) -> Ranked:
    """
    Return *alone*, followed by the candidates that the prompt finds in combination with *earlier* prompts.

    Candidates that were surfaced for an earlier prompt are already in the conversation and are dropped.
    """
    text = looking_back(request.question.text, earlier.questions)
    if text == request.question.text:
        return alone
    found, trace = rank(request.asking(text))
    least = LEAST_SHARE * max((c.relevance for c in found.candidates), default=0.0)
    new = [c for c in found.candidates if c.relevance >= least and _place(c) not in earlier.places]
    trace.drop([c for c in found.candidates if _place(c) in earlier.places], "given a moment ago")
    if not alone[0].candidates:
        return found.with_candidates(new), trace
    return alone[0].with_candidates(_behind(alone[0].candidates, new)), alone[1]


def _behind(own: tuple[Candidate, ...], added: list[Candidate]) -> list[Candidate]:
    """Return *own* unchanged, then the new ones of *added* with a relevance below every one of *own*."""
    known = {c.best for c in own}
    least = ADDED_SHARE * min(c.relevance for c in own)
    return [
        *own,
        *(
            c._replace(relevance=least * c.relevance, score=least * c.relevance)
            for c in added
            if c.best not in known
        ),
    ]


def _place(candidate: Candidate) -> tuple[int, int]:
    return candidate.document_id, candidate.span.start_line if candidate.span else 0
