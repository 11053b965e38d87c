"""The commands that a client calls: hook EVENT, and hook drain for the work that hooks postponed."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from clawmem.app.interfaces.cli.session import command_group, settings_of, wants_json

cli = command_group()

DRAIN_SECONDS = 600.0  # no client waits for drain


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
        from clawmem.app.interfaces.hooks.process import run_process

        run_process([name, "--vault", str(settings_of(ctx).vault)])
    _drain(ctx)


def _drain(ctx: typer.Context) -> None:
    from clawmem.app.interfaces.cli.rendering import show, show_json
    from clawmem.app.interfaces.hooks.capture import drained
    from clawmem.app.interfaces.hooks.spool import Spool

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
