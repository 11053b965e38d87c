"""The server: serve, serve --status, serve --stop."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from time import monotonic, sleep
from typing import Annotated

import typer

from clawmem.app.bootstrap.opening import open_services, require_vault
from clawmem.app.client.autostart import is_automatic, is_running, started_server
from clawmem.app.client.request import Announcement, announced, fault_of_server, server_file
from clawmem.app.interfaces.cli.session import settings_of, settings_of_usual, show_outcome
from clawmem.ports.errors import ClawmemError, InvalidInput

cli = typer.Typer(rich_markup_mode=None)

STOPS_WITHIN_S = 20.0  # a server answers requests in progress for 10 seconds
PAUSE_S = 0.05


@cli.command()
def serve(
    ctx: typer.Context,
    host: Annotated[str, typer.Option(help="Address to listen on; prefer the local one.")] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65_535, help="[default: 7438, or a free one]", show_default=False),
    ] = None,
    names: Annotated[
        list[str] | None,
        typer.Option("--name", help="One more name that the server goes by.", show_default=False),
    ] = None,
    no_token: Annotated[
        bool, typer.Option("--no-token", help="Let every process on this machine connect.")
    ] = False,
    no_watch: Annotated[bool, typer.Option("--no-watch", help="Leave new and changed files alone.")] = False,
    idle_exit: Annotated[
        float | None,
        typer.Option(
            min=0.001, metavar="MINUTES", help="Exit after that time without a request.", show_default=False
        ),
    ] = None,
    log: Annotated[
        Path | None, typer.Option(help="Write warnings and errors to this file.", show_default=False)
    ] = None,
    background: Annotated[
        bool,
        typer.Option("--background", help="Return as soon as it answers; it goes on without this terminal."),
    ] = False,
    status: Annotated[bool, typer.Option("--status", help="Say whether one runs, and where.")] = False,
    stop: Annotated[bool, typer.Option("--stop", help="Stop the one that runs.")] = False,
) -> None:
    """
    Run the server: keep the vault open and answer over HTTP.

    Hooks use it and are faster with it; they start it unless the config file says "server: manual". Ctrl-C stops it. --status
    and --stop exit with 1 when no server runs, --status also when it does not answer or its vault is gone. --background
    is content with one that runs already.
    """
    if background and log:
        raise InvalidInput("INVALID_INPUT", "--background keeps a log of its own: leave out --log.")
    vault = settings_of(ctx).vault
    server = announced(vault) if is_running(vault) else None
    if stop:
        _stop(ctx, vault, server)
    elif status:
        _show_status(ctx, vault, server)
    elif background:
        _start(ctx, is_new=server is None)
    else:
        from clawmem.app.serve.server import Choices
        from clawmem.app.serve.server import serve as serve_vault

        def ready(url: str) -> None:
            show_outcome(
                ctx, {"url": url, "vault": str(vault)}, f"{vault} is served at {url}. Ctrl-C ends it."
            )
            sys.stdout.flush()  # the process that started the server may wait for this line

        idle_exit_s = None if idle_exit is None else idle_exit * 60
        chosen = Choices(host, port, tuple(names or ()), no_token, not no_watch, idle_exit_s, log)
        serve_vault(settings_of_usual(ctx, "serve"), chosen, os.environ, ready)
        os._exit(0)  # a request that hangs in a thread does not keep the process


def _start(ctx: typer.Context, *, is_new: bool) -> None:
    """Start a server in the background with the options of this command, unless one runs."""
    settings = settings_of_usual(ctx, "serve")
    require_vault(settings)
    options: list[str] = []
    for option in ctx.command.params:
        value = ctx.params[str(option.name)]
        if option.name != "background" and value is not False and value not in (None, ()):
            values = value if isinstance(value, (list, tuple)) else [value]
            options += [option.opts[0]] if value is True else [f"{option.opts[0]}={text}" for text in values]
    vault = settings.vault
    server, log = started_server(vault, options, os.environ), server_file(vault, "server-log")
    record = {"url": server.url, "vault": str(vault), "pid": server.pid, "log": str(log), "started": is_new}
    show_outcome(ctx, record, f"{vault} is served at {server.url}. Its log is {log}")


def _stop(ctx: typer.Context, vault: Path, server: Announcement | None) -> None:
    """Stop the running server, and wait until it has ended."""
    if server is None and is_running(vault):
        raise ClawmemError(
            f"A server of {vault} runs that does not name its process. Try again, or end the process that has "
            f"{server_file(vault, 'server-lock')} open (fuser -k)."
        )
    if server:
        os.kill(server.pid, signal.SIGTERM)
    end = monotonic() + STOPS_WITHIN_S
    while server and is_running(vault):
        if monotonic() > end:
            raise ClawmemError(f"Process {server.pid} does not end. As the last resort: kill -9 {server.pid}")
        sleep(PAUSE_S)
    text = f"{vault} was served at {server.url}." if server else f"No server of {vault} runs."
    show_outcome(ctx, {"vault": str(vault), "running": False}, text)
    if not server:
        raise typer.Exit(1)


def _show_status(ctx: typer.Context, vault: Path, server: Announcement | None) -> None:
    """Show whether a server runs and is of use; exit with 1 otherwise."""
    fault, automatic = fault_of_server(server) if server else "", is_automatic(os.environ)
    record = {"vault": str(vault), "running": bool(server), "answers": bool(server) and not fault}
    record["automatic"] = automatic
    lines = [f"No server of {vault} runs."]
    if server:
        record |= {"url": server.url, "pid": server.pid, "version": server.version}
        lines = [f"{vault} is served at {server.url} by process {server.pid} ({server.version})."]
    lines.append("Hooks start a server when none runs." if automatic else "Hooks start no server.")
    show_outcome(ctx, record, "\n".join(lines))
    faults = [fault] if fault else []
    if server_file(vault, "server-start").exists():
        log = server_file(vault, "server-log")
        faults.append(f"A hook started a server that does not answer yet. See {log}")
    try:
        with open_services(settings_of(ctx), read_only=True):
            pass
    except ClawmemError as error:
        faults.append(str(error))
    for text in faults:
        typer.echo(text, err=True)
    if faults or not server:
        raise typer.Exit(1)
