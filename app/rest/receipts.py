"""Receipts of answers: the last ones, and one of them."""

from __future__ import annotations

from typing import Any

from pydantic import Field
from typing_extensions import TypedDict

from clawmem.app.cli.explaining import receipt_record
from clawmem.app.opened import Services
from clawmem.app.rest.operation import Asked, reading
from clawmem.app.services.retrieval.why import Kept

MOST = 1000


class LatestReceipts(Asked):
    """How many."""

    limit: int = Field(10, ge=1, le=MOST, description="How many.")


class OfId(Asked):
    """A receipt."""

    id: str = Field(min_length=1, max_length=100, description="Its number, as an explained answer says it.")


class Line(TypedDict):
    """A receipt of a list; one that cannot be read has nothing but its id."""

    id: int
    asked_at: str | None
    verb: str | None
    answers: int | None
    question: str | None


class Whole(TypedDict):
    """How an answer came about."""

    verb: str
    question: str
    asked_at: str
    took_ms: float
    version: str
    asked: dict[str, Any]
    hits: dict[str, int]
    degraded: dict[str, str]
    items: list[dict[str, Any]]
    stages: list[dict[str, Any]]
    model: str | None
    answered: float | None


def latest(services: Services, asked: LatestReceipts) -> list[Line]:
    """The last answers that receipts were kept of, newest first."""
    return [_line(kept) for kept in services.why.latest(asked.limit)]


def receipt(services: Services, asked: OfId) -> dict[str, Any]:
    """How an answer came about."""
    return receipt_record(services.why.find(asked.id))


def _line(kept: Kept) -> Line:
    found = kept.receipt
    return {
        "id": kept.id,
        "asked_at": found.asked_at if found else None,
        "verb": found.verb if found else None,
        "answers": len(found.items) if found else None,
        "question": found.question if found else None,
    }


OPERATIONS = (
    reading("GET", "/receipts", LatestReceipts, list[Line], latest),
    reading("GET", "/receipts/{id}", OfId, Whole, receipt),
)
