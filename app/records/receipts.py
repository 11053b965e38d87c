"""Receipts of answers as records: in a list, and after a replay."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from typing_extensions import TypedDict

if TYPE_CHECKING:
    from clawmem.app.services.retrieval.replay import Replay
    from clawmem.app.services.retrieval.why import ReceiptEntry


class Line(TypedDict):
    """A receipt in a list; all fields but the id are null if it cannot be read."""

    id: int
    asked_at: str | None
    verb: str | None
    answers: int | None
    question: str | None


class Replayed(TypedDict):
    """
    The comparison of a receipt with the results of today: the change of each result, and the new receipt.

    ``voice`` is set if only one of the two answers is empty; ``circumstances`` lists changes that may affect all
    results.
    """

    voice: str | None
    circumstances: list[str]
    changes: list[dict[str, Any]]
    now: dict[str, Any]


def line_of(kept: ReceiptEntry) -> Line:
    """Return a stored receipt as a line of a list."""
    found = kept.receipt
    return {
        "id": kept.id,
        "asked_at": found.asked_at if found else None,
        "verb": found.verb if found else None,
        "answers": len(found.items) if found else None,
        "question": found.question if found else None,
    }


def replayed_of(found: Replay) -> Replayed:
    """Return a replay as a record."""
    from clawmem.app.operations.explaining import receipt_record

    return {
        "voice": found.voice,
        "circumstances": list(found.circumstances),
        "changes": [asdict(change) for change in found.changes],
        "now": receipt_record(found.now),
    }
