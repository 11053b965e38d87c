"""Hooks and their context blocks on the command line: hook, surface."""

from __future__ import annotations

import os
from time import time_ns
from typing import Annotated

import typer

from clawmem.app.interfaces.cli.session import settings_of
from clawmem.app.interfaces.hooks.handlers import HookContext, context_surfacing
from clawmem.app.interfaces.hooks.process import run_process
from clawmem.app.interfaces.hooks.protocol import HookEvent
from clawmem.app.interfaces.hooks.sessions import session_bootstrap, staleness_check
from clawmem.ports.errors import InvalidInput

cli = typer.Typer(rich_markup_mode=None)


@cli.command()
def surface(
    ctx: typer.Context,
    question: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PROMPT...]", help="The prompt, or the id of the session with --bootstrap."),
    ] = None,
    context: Annotated[bool, typer.Option("--context", help="For a prompt, as by default.")] = False,
    bootstrap: Annotated[bool, typer.Option("--bootstrap", help="For the start of a session.")] = False,
    stdin: Annotated[bool, typer.Option("--stdin", help="Read the prompt or the id from stdin.")] = False,
) -> None:
    """
    Print the context block of a prompt or a session start.

    Nothing is printed if no block would be added.
    """
    if (context and bootstrap) or bool(question) == stdin:
        raise InvalidInput(
            "INVALID_INPUT",
            'Give a prompt: clawmem surface "PROMPT", or clawmem surface --stdin; --bootstrap takes the id of a session.',
        )
    os.environ["INDEX_PATH"] = str(settings_of(ctx).vault)  # the variable from which hooks read the path
    text = " ".join(question) if question else typer.get_text_stream("stdin").read()
    here = HookContext(os.environ)
    if not bootstrap:
        block = context_surfacing(HookEvent(name="UserPromptSubmit", prompt=text), here)
    else:
        session_id = text.strip() or f"io6-{time_ns() // 1_000_000}"
        event = HookEvent(name="SessionStart", session_id=session_id)
        blocks = (hook(event, here) for hook in (session_bootstrap, staleness_check))
        block = "\n".join(filter(None, blocks))
    if block:
        typer.echo(block)


@cli.command()
def hook(
    ctx: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="EVENT", help="UserPromptSubmit, Stop ..., or the name of one hook.")
    ],
) -> None:
    """
    Run the hooks of an event: read it as JSON from stdin, write the response to stdout.

    The exit code is always 0. See also: clawmem setup hooks
    """
    run_process([name, "--vault", str(settings_of(ctx).vault), *(["--alone"] if ctx.obj.alone else [])])
