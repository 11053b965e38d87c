"""Why an answer was given: the receipts that were kept."""

from __future__ import annotations

import os
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clawmem.app.cli.main import VERSION
from clawmem.app.cli.session import opened, wants_json

if TYPE_CHECKING:
    from clawmem.app.opened import Services
    from clawmem.app.services.retrieval.receipts import Receipt
    from clawmem.app.services.retrieval.replay import Replay
    from clawmem.app.services.retrieval.why import Ask

cli = typer.Typer(rich_markup_mode=None)

LISTED = 10


@cli.callback()
def _family() -> None:
    """A verb that stands alone in its module."""


@cli.command()
def why(
    ctx: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(help="A receipt's id; the last ten without.", metavar="ID", show_default=False),
    ] = None,
    replay: Annotated[bool, typer.Option("--replay", help="Ask again, and show what changed.")] = False,
) -> None:
    """Show how an answer came about, and what the same question finds now."""
    with opened(ctx, read_only=True) as services:
        if name is None:
            _show_latest(services, as_json=wants_json(ctx))
            return
        receipt = services.why.find(name)
        now = _asked_again(services, receipt) if replay else None
    _show(receipt, now, as_json=wants_json(ctx))


def _asked_again(services: Services, receipt: Receipt) -> Replay:
    from clawmem.app.cli.retrieval import ask
    from clawmem.app.services.surfacing.turns import CONTEXT_SURFACING
    from clawmem.ports.errors import InvalidInput

    if receipt.verb == CONTEXT_SURFACING:
        return services.why.replay(receipt, _surface_again(services, receipt), VERSION)
    if not hasattr(services.parts, receipt.verb):
        message = f"The answer was given by {receipt.verb!r}, which nobody can ask again from here."
        raise InvalidInput("INVALID_INPUT", message)
    return services.why.replay(receipt, partial(ask, services), VERSION)


def _surface_again(services: Services, receipt: Receipt) -> Ask:
    """Asks as the hook does, by the profile of then, and writes nothing down; the prompts before it are not known."""
    from clawmem.app.hooks.surfacing_choices import chosen_in
    from clawmem.app.hooks.surfacing_wiring import surface_over
    from clawmem.app.services.surfacing.choices import Choices
    from clawmem.app.services.surfacing.turns import Turns
    from clawmem.domain.surfacing.profiles import profile_named

    chosen = chosen_in(os.environ)._replace(remembers=False, forgets=False)
    profile = profile_named(receipt.asked.get("profile", chosen.profile))
    surface = surface_over(services.vault, chosen, profile)
    return lambda verb, request: (
        surface(request.query, Turns(None), Choices(profile, mode=chosen.mode)).answer
    )


def _show_latest(services: Services, *, as_json: bool) -> None:
    from clawmem.app.cli.rendering import show, show_json, show_table

    rows = [_line(kept.id, kept.receipt) for kept in services.why.latest(LISTED)]
    if as_json:
        show_json(rows)
    elif rows:
        show_table(tuple(rows[0]), [tuple(row.values()) for row in rows])
    else:
        show("No receipts. They are kept for every answer, unless that is switched off.")


def _show(receipt: Receipt, now: Replay | None, *, as_json: bool) -> None:
    from clawmem.app.cli.rendering import show_json

    if as_json:
        show_json(_record(receipt, now))
        return
    from clawmem.app.cli.explaining import show_receipt, show_replay

    show_receipt(receipt)
    if now:
        show_replay(now)


def _line(number: int, receipt: Receipt | None) -> dict[str, Any]:
    if receipt is None:
        return {"id": number, "asked_at": "", "verb": "", "answers": "", "question": "cannot be read"}
    return {
        "id": number,
        "asked_at": receipt.asked_at,
        "verb": receipt.verb,
        "answers": len(receipt.items),
        "question": receipt.question,
    }


def _record(receipt: Receipt, now: Replay | None) -> dict[str, Any]:
    from clawmem.app.cli.explaining import receipt_record

    record = receipt_record(receipt)
    if now:
        changes = [asdict(change) for change in now.changes]
        record["replay"] = {
            "voice": now.voice,
            "circumstances": now.circumstances,
            "changes": changes,
            "now": receipt_record(now.now),
        }
    return record
