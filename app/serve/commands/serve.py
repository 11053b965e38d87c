"""The server: serve, serve --status, serve --stop."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from time import monotonic, sleep
from typing import Annotated

import typer

from clawmem.app.bootstrap.opening import require_vault
from clawmem.app.client.announcement import Announcement, announced
from clawmem.app.client.autostart import (
    is_automatic,
    is_running,
    log_file,
    start_note,
    started_server,
)
from clawmem.app.client.request import answers
from clawmem.app.interfaces.cli.rendering import show
from clawmem.app.interfaces.cli.session import (
    command_group,
    settings_of,
    settings_of_usual,
    show_outcome,
    wants_json,
)
from clawmem.ports.errors import ClawmemError, InvalidInput

cli = command_group()

STOPS_WITHIN_S = 20.0
PAUSE_S = 0.05


Port = Annotated[
    int | None, typer.Option(min=0, max=65_535, help="[default: 7438, or a free one]", show_default=False)
]
Names = Annotated[
    list[str] | None,
    typer.Option("--name", help="One more name that the server goes by.", show_default=False),
]
Minutes = Annotated[
    float | None,
    typer.Option(
        min=0.001, metavar="MINUTES", help="Exit after that time without a request.", show_default=False
    ),
]
Log = Annotated[Path | None, typer.Option(help="Write warnings and errors to this file.", show_default=False)]
Background = Annotated[
    bool, typer.Option("--background", help="Return as soon as it answers; it goes on without this terminal.")
]


@cli.command()
def serve(
    ctx: typer.Context,
    host: Annotated[str, typer.Option(help="Address to listen on; prefer the local one.")] = "127.0.0.1",
    port: Port = None,
    names: Names = None,
    no_token: Annotated[
        bool, typer.Option("--no-token", help="Let every process on this machine connect.")
    ] = False,
    no_watch: Annotated[bool, typer.Option("--no-watch", help="Leave new and changed files alone.")] = False,
    idle_exit: Minutes = None,
    log: Log = None,
    background: Background = False,
    status: Annotated[bool, typer.Option("--status", help="Say whether one runs, and where.")] = False,
    stop: Annotated[bool, typer.Option("--stop", help="Stop the one that runs.")] = False,
) -> None:
    """
    Run the server: keep the vault open and answer over HTTP.

    Hooks use it and are faster with it; with "server: auto" in the config file they start it. Ctrl-C stops it. --status
    and --stop exit with 1 when no server runs, --status also when the server does not answer. --background is content
    with one that runs already.
    """
    if background and log:
        raise InvalidInput("INVALID_INPUT", "--background keeps a log of its own: leave out --log.")
    if stop:
        _tell_of_stop(ctx, _stopped(settings_of(ctx).vault))
        return
    if status:
        _tell_of_status(ctx, _found(settings_of(ctx).vault))
        return

    idle_exit_s = None if idle_exit is None else idle_exit * 60
    if background:
        _tell_of_start(ctx, _options(ctx))
        return
    from clawmem.app.serve.server import Choices
    from clawmem.app.serve.server import serve as serve_vault

    chosen = Choices(host, port, tuple(names or ()), no_token, not no_watch, idle_exit_s, log)
    serve_vault(settings_of_usual(ctx, "serve"), chosen, os.environ, lambda url: _say(ctx, url))
    sys.stdout.flush()
    os._exit(0)  # a request that hangs in a thread does not keep the process


def _options(ctx: typer.Context) -> list[str]:
    """Return the options of the command line, without the one that starts the server in the background."""
    words: list[str] = []
    for option in ctx.command.params:
        value = ctx.params[str(option.name)]
        if option.name == "background" or value in (None, False, ()):
            continue
        values = value if isinstance(value, (list, tuple)) else [value]
        words += [option.opts[0]] if value is True else [f"{option.opts[0]}={one}" for one in values]
    return words


def _tell_of_start(ctx: typer.Context, options: list[str]) -> None:
    settings = settings_of_usual(ctx, "serve")
    require_vault(settings)
    vault = settings.vault
    there = _found(vault)
    if there and not answers(there):
        raise ClawmemError("The server that runs does not answer. Stop it with: clawmem serve --stop")
    server = there or started_server(vault, options, os.environ)
    facts = {"url": server.url, "vault": str(vault), "pid": server.pid, "log": log_file(vault)}
    now = "now" if there is None else "already"
    text = f"{vault} is {now} served at {server.url}. Its log is {log_file(vault)}"
    show_outcome(ctx, {**facts, "started": there is None}, text)


def _say(ctx: typer.Context, url: str) -> None:
    vault = str(settings_of(ctx).vault)
    show_outcome(ctx, {"url": url, "vault": vault}, f"{vault} is served at {url}. Ctrl-C ends it.")
    sys.stdout.flush()  # the process that started the server may wait for this line


def _tell_of_stop(ctx: typer.Context, server: Announcement | None) -> None:
    _show_server(ctx, server, "no longer", running=False)
    if not server:
        raise typer.Exit(1)


def _tell_of_status(ctx: typer.Context, server: Announcement | None) -> None:
    is_well = server is not None and answers(server)
    vault = settings_of(ctx).vault
    automatic, unfinished = is_automatic(os.environ), Path(start_note(vault)).exists()
    facts = {"answers": is_well, "automatic": automatic, "unfinished": unfinished}
    _show_server(ctx, server, "now", running=server is not None, **facts)
    if not wants_json(ctx):
        show("Hooks start a server when none runs." if automatic else "Hooks start no server.")
    if unfinished:
        typer.echo(f"A hook started a server that does not answer yet. See {log_file(vault)}", err=True)
    if server and not is_well:
        typer.echo("It does not answer. Stop it with: clawmem serve --stop", err=True)
    if not is_well:
        raise typer.Exit(1)


def _show_server(ctx: typer.Context, server: Announcement | None, state: str, **facts: bool) -> None:
    vault = str(settings_of(ctx).vault)
    if server is None:
        show_outcome(ctx, {"vault": vault, **facts}, f"No server of {vault} runs.")
        return
    text = f"{vault} is {state} served at {server.url} by process {server.pid} ({server.version})."
    address = {"url": server.url, "pid": server.pid, "version": server.version}
    show_outcome(ctx, {"vault": vault, **facts, **address}, text)


def _found(vault: Path) -> Announcement | None:
    return announced(vault) if is_running(vault) else None


def _stopped(vault: Path) -> Announcement | None:
    """Stop the running server, wait until it has ended, and return its announcement."""
    there = _found(vault)
    if there is None:
        return None
    os.kill(there.pid, signal.SIGTERM)
    end = monotonic() + STOPS_WITHIN_S
    while is_running(vault):
        if monotonic() > end:
            raise ClawmemError(
                f"Process {there.pid} was told to end and has not. Look at it, then try again."
            )
        sleep(PAUSE_S)
    return there
