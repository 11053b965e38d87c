"""The budget of prompts: what the hooks added to them, and how much of it was used."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from clawmem.app.operations.fields import Limit
from clawmem.app.operations.operation import Effect, Option, Result, operation
from clawmem.app.operations.output import Table, table
from clawmem.app.services.surfacing.turns import CONTEXT_SURFACING, receipt_of
from clawmem.domain.documents.times import DAY_MS, iso_utc

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.ports.telemetry import Recall, Receipts

DAYS_BACK = 30
SHOWN_ID = 8  # characters


class SessionUse(Result):
    """Prompts of one session, and the documents in their blocks."""

    session_id: str
    last_asked: str
    prompts: int
    blocks: int = Field(description="Prompts that got a block.")
    tokens: int = Field(description="Tokens of the blocks whose receipts are still stored.")
    given: int = Field(description="Surfaced documents.")
    referenced: int = Field(description="Of them, documents that the conversation made use of.")
    share_referenced: float = Field(description="The share of these, 0 to 1.")


class Budget(Result):
    """The use of the latest sessions, newest first."""

    count: int
    sessions: list[SessionUse]


def _use_of(session_id: str, recalls: list[Recall], receipts: Receipts) -> SessionUse:
    hits = [hit for recall in recalls for hit in recall.hits]
    found = (receipt_of(receipts, recall) for recall in recalls if recall.hits)
    referenced = sum(hit.was_referenced for hit in hits)
    return SessionUse(
        session_id=session_id,
        last_asked=recalls[-1].asked_at,
        prompts=len(recalls),
        blocks=sum(bool(recall.hits) for recall in recalls),
        tokens=sum(int(receipt.asked.get("tokens", 0)) for receipt in found if receipt),
        given=len(hits),
        referenced=referenced,
        share_referenced=referenced / len(hits) if hits else 0.0,
    )


def _text(result: Budget) -> str | list[Table]:
    if not result.sessions:
        return "Nothing was given to any prompt yet."
    rows = [
        (
            use.session_id[:SHOWN_ID],
            use.last_asked[:16].replace("T", " "),
            *(use.prompts, use.blocks, use.tokens, use.given),
            f"{use.share_referenced:.0%}",
        )
        for use in result.sessions
    ]
    return [
        table(("session", "last asked", "prompts", "with a block", "tokens", "documents", "of use"), rows)
    ]


@operation(Effect.READS, text=_text, is_tool=False)
def budget(
    services: Services,
    session: Annotated[str, Field(description="Only this session.")] = "",
    limit: Annotated[Limit, Option(("-n", "--limit"), about="Number of sessions.")] = 5,
) -> Budget:
    """Show the tokens that hooks added to prompts of the last 30 days, and how much of them was used."""
    telemetry, sessions = services.vault.telemetry, defaultdict[str, list["Recall"]](list)
    since = iso_utc(services.clock.now_ms() - DAYS_BACK * DAY_MS)
    for recall in telemetry.of_session(session) if session else telemetry.recalls(since):
        if recall.verb == CONTEXT_SURFACING and recall.session_id:
            sessions[recall.session_id].append(recall)
    uses = [_use_of(name, recalls, services.vault.receipts) for name, recalls in sessions.items()]
    latest = sorted(uses, key=lambda use: use.last_asked, reverse=True)[:limit]
    return Budget(count=len(latest), sessions=latest)
