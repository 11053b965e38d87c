"""Receipts: explanations of answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from clawmem.app.operations.explaining import ranks_record, score_lines, stage_record, trace_parts
from clawmem.app.operations.operation import Command, Effect, Option, Result, operation
from clawmem.app.operations.output import Part, Table, confidence_text, table

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.services.retrieval import receipts
    from clawmem.app.services.retrieval.receipts import ReceiptEntry

NONE_YET = "No receipts. They are kept for every answer, unless that is switched off."
UNREADABLE = "cannot be read"
LISTED = 10
MOST = 1000


class ReceiptLine(Result):
    """A receipt in a list; all fields but the id are null if it cannot be read."""

    id: int
    asked_at: str | None = None
    verb: str | None = None
    answers: int | None = None
    question: str | None = None


class Receipts(Result):
    """Receipts, newest first."""

    count: int
    receipts: list[ReceiptLine]


class Receipt(Result):
    """The receipt of an answer."""

    verb: str
    question: str
    asked_at: str
    took_ms: float
    version: str
    model: str | None
    asked: dict[str, Any] = Field(description="The parameters that differ from their defaults.")
    items: list[dict[str, Any]] = Field(description="The results, with ranks and the terms of each score.")
    stages: list[dict[str, Any]] = Field(description="The stages, with the candidates that they dropped.")
    hits: dict[str, int]
    degraded: dict[str, str]
    answered: float | None = Field(description="Probability that anything found answers the question.")


def _line(entry: ReceiptEntry) -> ReceiptLine:
    found = entry.receipt
    if found is None:
        return ReceiptLine(id=entry.id)
    return ReceiptLine(
        id=entry.id,
        asked_at=found.asked_at,
        verb=found.verb,
        answers=len(found.items),
        question=found.question,
    )


def _record(receipt: receipts.Receipt) -> dict[str, Any]:
    items = [{**item._asdict(), "legs": ranks_record(item.legs)} for item in receipt.items]
    return {**receipt._asdict(), "items": items, "stages": [stage_record(stage) for stage in receipt.stages]}


def _list_text(result: Receipts) -> str | list[Table]:
    if not result.receipts:
        return NONE_YET
    names = tuple(ReceiptLine.model_fields)
    rows = [{**dict(line), "question": line.question or UNREADABLE} for line in result.receipts]
    return [table(names, [["" if row[name] is None else row[name] for name in names] for row in rows])]


def _receipt_text(result: Receipt) -> Iterator[Part]:
    yield from _head_lines(result)
    for rank, item in enumerate(result.items, start=1):
        facts = "  ".join(filter(None, (f"#{item['docid']}", confidence_text(item["confidence"]))))
        yield f"{rank}. {item['file']}:{item['start_line']}  {facts}"
        scores = score_lines(item["score"], item["terms"], item["parts"], item["legs"])
        yield from (f"    {line}" for line in scores)
    yield ""
    yield from trace_parts({"hits": result.hits, "stages": result.stages})
    yield from (f"degraded: {leg}: {reason}" for leg, reason in result.degraded.items())


def _head_lines(result: Receipt) -> Iterator[str]:
    asked = ", ".join(f"{name} {value}" for name, value in result.asked.items())
    yield f"{result.verb}: {result.question}" + (f"  ({asked})" if asked else "")
    model = f", vectors of {result.model}" if result.model else ""
    yield f"asked {result.asked_at}, {result.took_ms:g} ms, clawmem {result.version}{model}"
    if result.answered is not None:
        yield f"confidence that anything found here answers: {confidence_text(result.answered)}"
    yield "" if result.items else "nothing was found"


@operation(Effect.READS, name="receipts", text=_list_text, route="/receipts", commands=(), is_tool=False)
def list_receipts(
    services: Services,
    limit: Annotated[
        int, Field(ge=1, le=MOST, description="Maximum number."), Option(("-n", "--limit"))
    ] = LISTED,
) -> Receipts:
    """List the latest receipts of answers, newest first."""
    lines = [_line(entry) for entry in services.why.latest(limit)]
    return Receipts(count=len(lines), receipts=lines)


WHY = Command(
    "why", about="Show how an answer came about; without an id the last ten.", otherwise=list_receipts
)


@operation(
    Effect.READS, name="receipt", text=_receipt_text, route="/receipts/{id}", commands=(WHY,), is_tool=False
)
def show_receipt(
    services: Services,
    id: Annotated[
        str,
        Field(max_length=100, description="Its number, as an explained answer returns it."),
        Option(metavar="ID", is_argument=True),
    ],
) -> Receipt:
    """Show how an answer came about."""
    return Receipt(**_record(services.why.find(id)))
