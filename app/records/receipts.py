"""Receipts of answers as records: in a list, and asked again."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from typing_extensions import TypedDict

if TYPE_CHECKING:
    from clawmem.app.services.retrieval.replay import Replay
    from clawmem.app.services.retrieval.why import ReceiptEntry


class Line(TypedDict):
    """A receipt of a list; one that cannot be read has nothing but its id."""

    id: int
    asked_at: str | None
    verb: str | None
    answers: int | None
    question: str | None


class Replayed(TypedDict):
    """
    What a question finds now, against a receipt: what became of each answer, and the receipt of now.

    ``voice`` says whether it fell silent or speaks now, ``circumstances`` what may have moved every answer.
    """

    voice: str | None
    circumstances: list[str]
    changes: list[dict[str, Any]]
    now: dict[str, Any]


def line_of(kept: ReceiptEntry) -> Line:
    """A receipt of a list."""
    found = kept.receipt
    return {
        "id": kept.id,
        "asked_at": found.asked_at if found else None,
        "verb": found.verb if found else None,
        "answers": len(found.items) if found else None,
        "question": found.question if found else None,
    }


def replayed_of(found: Replay) -> Replayed:
    """A question that was asked again."""
    from clawmem.app.cli.explaining import receipt_record

    return {
        "voice": found.voice,
        "circumstances": list(found.circumstances),
        "changes": [asdict(change) for change in found.changes],
        "now": receipt_record(found.now),
    }
