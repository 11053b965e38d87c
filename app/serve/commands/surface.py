"""Hooks and their context blocks on the command line: hook, surface, budget."""

from __future__ import annotations

import os
from time import time_ns
from typing import TYPE_CHECKING, Annotated

import typer

from clawmem.app.interfaces.cli.rendering import CommandOutput, json_part
from clawmem.app.interfaces.cli.session import settings_of, show_outcome, tell, wants_json
from clawmem.app.interfaces.hooks.briefing import session_bootstrap, staleness_check
from clawmem.app.interfaces.hooks.capture import drained
from clawmem.app.interfaces.hooks.context import HookContext
from clawmem.app.interfaces.hooks.process import run_process
from clawmem.app.interfaces.hooks.prompt import context_surfacing
from clawmem.app.interfaces.hooks.protocol import HookEvent
from clawmem.app.interfaces.hooks.spool import Spool
from clawmem.app.operations.output import table
from clawmem.app.services.surfacing.spending import spent_by, spent_lately
from clawmem.domain.documents.times import iso_utc
from clawmem.ports.errors import InvalidInput

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services

cli = typer.Typer(rich_markup_mode=None)

DAYS_BACK = 30
SHOWN_ID = 8
DAY_MS = 86_400_000
DRAIN_SECONDS = 600.0  # no client waits for drain


@cli.command()
def surface(
    ctx: typer.Context,
    context: Annotated[bool, typer.Option("--context", help="For the prompt on standard input.")] = False,
    bootstrap: Annotated[
        bool, typer.Option("--bootstrap", help="For the session whose id is on standard input.")
    ] = False,
    stdin: Annotated[
        bool, typer.Option("--stdin", help="Read standard input; there is no other way.")
    ] = False,
) -> None:
    """
    Print the context block of a prompt or a session start.

    Nothing is printed if no block would be added.
    """
    if context == bootstrap or not stdin:
        raise InvalidInput(
            "INVALID_INPUT", "Say one of: surface --context --stdin, surface --bootstrap --stdin"
        )
    os.environ["INDEX_PATH"] = str(settings_of(ctx).vault)  # the variable from which hooks read the path
    text, here = typer.get_text_stream("stdin").read(), HookContext(os.environ)
    if context:
        block = context_surfacing(HookEvent(name="UserPromptSubmit", prompt=text), here).context
    else:
        session_id = text.strip() or f"io6-{time_ns() // 1_000_000}"
        event = HookEvent(name="SessionStart", session_id=session_id)
        blocks = (hook(event, here).context for hook in (session_bootstrap, staleness_check))
        block = "\n".join(filter(None, blocks))
    if block:
        typer.echo(block)


@cli.command()
def budget(
    ctx: typer.Context,
    session: Annotated[str, typer.Option("--session", help="Only this session.")] = "",
    last: Annotated[int, typer.Option("-n", "--last", help="Number of sessions.")] = 5,
) -> None:
    """Show the tokens added to prompts, and how much was used."""

    if last < 1:
        raise InvalidInput("OUT_OF_BOUNDS", f"{last} sessions cannot be shown; choose 1 or more.")

    def report(services: Services) -> CommandOutput:
        telemetry, receipts = services.vault.telemetry, services.vault.receipts
        if session:
            uses = [use for use in [spent_by(telemetry, receipts, session)] if use]
        else:
            since = iso_utc(services.clock.now_ms() - DAYS_BACK * DAY_MS)
            uses = spent_lately(telemetry, receipts, since, last)
        if wants_json(ctx):
            records = [{**use._asdict(), "share_referenced": use.share_referenced} for use in uses]
            return CommandOutput([json_part(records)])
        if not uses:
            return CommandOutput(["Nothing was given to any prompt yet."])
        rows = [
            (
                use.session_id[:SHOWN_ID],
                use.last_asked[:16].replace("T", " "),
                *map(str, (use.prompts, use.blocks, use.tokens, use.given)),
                f"{use.share_referenced:.0%}",
            )
            for use in uses
        ]
        heads = ("session", "last asked", "prompts", "with a block", "tokens", "documents", "of use")
        return CommandOutput([table(heads, rows)])

    tell(ctx, report)


@cli.command()
def hook(
    ctx: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            metavar="EVENT", help="UserPromptSubmit, Stop ..., or the name of one hook; or drain."
        ),
    ],
) -> None:
    """
    Run the hooks of an event: read it as JSON from stdin, write the response to stdout.

    The exit code is always 0. 'drain' instead finishes the work that earlier hooks postponed. See also: clawmem setup
    hooks
    """
    if name != "drain":
        run_process([name, "--vault", str(settings_of(ctx).vault)])
    vault = settings_of(ctx).vault
    spool = Spool(vault)
    waiting = spool.waiting()
    failures = drained(vault, spool, os.environ, DRAIN_SECONDS) if waiting else []
    left = spool.waiting()
    record = {"done": waiting - left, "waiting": left, "failures": failures}
    show_outcome(ctx, record, "\n".join([*failures, f"{waiting - left} done, {left} waiting."]))
    raise typer.Exit(1 if failures else 0)
