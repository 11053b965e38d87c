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
    from clawmem.app.operations.output import Part
    from clawmem.app.services.surfacing.spending import SurfacingUse

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
    text = typer.get_text_stream("stdin").read()
    _print(_for_prompt(text) if context else _for_session(text.strip()))


@cli.command()
def budget(
    ctx: typer.Context,
    session: Annotated[str, typer.Option("--session", help="Only this session.")] = "",
    last: Annotated[int, typer.Option("-n", "--last", help="Number of sessions.")] = 5,
) -> None:
    """Show the tokens added to prompts, and how much was used."""

    def say(services: Services) -> CommandOutput:
        if last < 1:
            raise InvalidInput("OUT_OF_BOUNDS", f"{last} sessions cannot be shown; choose 1 or more.")
        found = _spent(services, session, last)
        if not wants_json(ctx):
            return CommandOutput([_spent_part(found)])
        return CommandOutput(
            [json_part([{**spent._asdict(), "share_referenced": spent.share_referenced} for spent in found])]
        )

    tell(ctx, say)


def _spent(services: Services, session: str, last: int) -> list[SurfacingUse]:
    if session:
        one = spent_by(services.vault.telemetry, services.vault.receipts, session)
        return [one] if one else []
    since = iso_utc(services.clock.now_ms() - DAYS_BACK * DAY_MS)
    return spent_lately(services.vault.telemetry, services.vault.receipts, since, last)


def _for_prompt(prompt: str) -> str:
    return context_surfacing(
        HookEvent(name="UserPromptSubmit", prompt=prompt), HookContext(os.environ)
    ).context


def _for_session(session_id: str) -> str:
    here = HookContext(os.environ)
    event = HookEvent(name="SessionStart", session_id=session_id or f"io6-{time_ns() // 1_000_000}")
    said = (hook(event, here).context for hook in (session_bootstrap, staleness_check))
    return "\n".join(filter(None, said))


def _print(text: str) -> None:
    if text:
        typer.echo(text)


def _spent_part(found: list[SurfacingUse]) -> Part:
    if not found:
        return "Nothing was given to any prompt yet."
    columns = ("session", "last asked", "prompts", "with a block", "tokens", "documents", "of use")
    return table(columns, [_row(spent) for spent in found])


def _row(spent: SurfacingUse) -> tuple[str, ...]:
    asked = spent.last_asked[:16].replace("T", " ")
    counts = (spent.prompts, spent.blocks, spent.tokens, spent.given)
    return (spent.session_id[:SHOWN_ID], asked, *map(str, counts), f"{spent.share_referenced:.0%}")


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
    _drain(ctx)


def _drain(ctx: typer.Context) -> None:
    vault = settings_of(ctx).vault
    spool = Spool(vault)
    waiting = spool.waiting()
    failures = drained(vault, spool, os.environ, DRAIN_SECONDS) if waiting else []
    left = spool.waiting()
    record = {"done": waiting - left, "waiting": left, "failures": failures}
    show_outcome(ctx, record, "\n".join([*failures, f"{waiting - left} done, {left} waiting."]))
    raise typer.Exit(1 if failures else 0)
