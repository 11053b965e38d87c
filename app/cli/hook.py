"""What a client calls: hook NAME; and hook drain, for the work that hooks left behind."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from clawmem.app.cli.session import settings_of, wants_json

cli = typer.Typer(rich_markup_mode=None)

DRAIN_SECONDS = 600.0  # nobody waits


@cli.callback()
def _verbs() -> None:
    """One verb, and still a group: the command line loads verbs by their names."""


@cli.command()
def hook(
    ctx: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="context-surfacing, decision-extractor ...; or drain.")
    ],
) -> None:
    """
    Answer one event of a client: JSON on standard input, JSON on standard output, exit code 0 come what may.

    'drain' instead finishes what earlier hooks had no time for. See also: clawmem setup hooks
    """
    if name != "drain":
        from clawmem.app.hooks.runner import run_process

        run_process([name, "--vault", str(settings_of(ctx).vault)])
    _drain(ctx)


def _drain(ctx: typer.Context) -> None:
    from clawmem.app.cli.rendering import show, show_json
    from clawmem.app.hooks.at_stop import drained
    from clawmem.app.hooks.spool import Spool

    vault = settings_of(ctx).vault
    spool = Spool(vault)
    waiting = spool.waiting()
    failures = drained(vault, spool, os.environ, DRAIN_SECONDS) if waiting else []
    left = spool.waiting()
    if wants_json(ctx):
        show_json({"done": waiting - left, "waiting": left, "failures": failures})
    else:
        show("\n".join([*failures, f"{waiting - left} done, {left} waiting."]))
    raise typer.Exit(1 if failures else 0)
