"""The stored receipts of answers: why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from clawmem.app.interfaces.cli.session import tell, wants_json
from clawmem.app.replaying import asked_again

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.interfaces.cli.rendering import Said
    from clawmem.app.operations.output import Part
    from clawmem.app.services.retrieval.receipts import Receipt
    from clawmem.app.services.retrieval.replay import Replay

cli = typer.Typer(rich_markup_mode=None)

LISTED = 10
UNREADABLE = "cannot be read"


@cli.callback()
def _family() -> None:
    """Make the command line a group even with one command."""


@cli.command()
def why(
    ctx: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(help="A receipt's id; the last ten without.", metavar="ID", show_default=False),
    ] = None,
    replay: Annotated[bool, typer.Option("--replay", help="Ask again, and show what changed.")] = False,
) -> None:
    """Show how an answer came about; --replay asks it again."""

    def say(services: Services) -> Said:
        from clawmem.app.interfaces.cli.rendering import Said

        if name is None:
            return Said([_latest_part(services, as_json=wants_json(ctx))])
        receipt = services.why.find(name)
        now = asked_again(services, receipt) if replay else None
        return Said(_receipt_parts(receipt, now, as_json=wants_json(ctx)))

    tell(ctx, say)


def _latest_part(services: Services, *, as_json: bool) -> Part:
    from clawmem.app.interfaces.cli.rendering import json_part
    from clawmem.app.operations.output import table
    from clawmem.app.records.receipts import line_of

    rows = [line_of(kept) for kept in services.why.latest(LISTED)]
    if as_json:
        return json_part(rows)
    if not rows:
        return "No receipts. They are kept for every answer, unless that is switched off."
    readable = [{**row, "question": row["question"] or UNREADABLE} for row in rows]
    return table(tuple(rows[0]), [tuple("" if v is None else v for v in row.values()) for row in readable])


def _receipt_parts(receipt: Receipt, now: Replay | None, *, as_json: bool) -> list[Part]:
    from clawmem.app.interfaces.cli.rendering import json_part
    from clawmem.app.operations.explaining import receipt_parts, replay_parts

    if as_json:
        return [json_part(_record(receipt, now))]
    return [*receipt_parts(receipt), *(replay_parts(now) if now else ())]


def _record(receipt: Receipt, now: Replay | None) -> dict[str, Any]:
    from clawmem.app.operations.explaining import receipt_record
    from clawmem.app.records.receipts import replayed_of

    record = receipt_record(receipt)
    if now:
        record["replay"] = replayed_of(now)
    return record
