"""Receipts of answers: the latest ones, and one by its id."""

from __future__ import annotations

from typing import Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from clawmem.app.bootstrap.services import Services
from clawmem.app.interfaces.rest.operation import Asked, reading
from clawmem.app.operations.explaining import receipt_record
from clawmem.app.records.receipts import Line, Replayed, line_of, replayed_of
from clawmem.app.replaying import asked_again

MOST = 1000


class LatestReceipts(Asked):
    """The number of receipts."""

    limit: int = Field(10, ge=1, le=MOST, description="How many.")


class OfId(Asked):
    """A receipt."""

    id: str = Field(min_length=1, max_length=100, description="Its number, as an explained answer says it.")
    replay: bool = Field(False, description="Ask the question again, and say what became of each answer.")


class Whole(TypedDict):
    """The receipt of an answer, and on request its replay."""

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
    replay: NotRequired[Replayed]


def latest(services: Services, asked: LatestReceipts) -> list[Line]:
    """List the latest receipts of answers, newest first."""
    return [line_of(kept) for kept in services.why.latest(asked.limit)]


def receipt(services: Services, asked: OfId) -> dict[str, Any]:
    """Return the receipt of an answer, on request with a replay."""
    kept = services.why.find(asked.id)
    record = receipt_record(kept)
    return {**record, "replay": replayed_of(asked_again(services, kept))} if asked.replay else record


OPERATIONS = (
    reading("GET", "/receipts", LatestReceipts, list[Line], latest),
    reading("GET", "/receipts/{id}", OfId, Whole, receipt),
)
