"""Commands that run other interfaces in their process: hooks, MCP, the server with its page, and the watcher."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import webbrowser
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from time import monotonic, sleep, time_ns
from typing import TYPE_CHECKING, Annotated

import typer

from clawmem.app.bootstrap.opening import open_services, require_vault
from clawmem.app.client.autostart import ONE_HEAP, PAUSE_S, is_automatic, is_running, started_server
from clawmem.app.client.connection import PROGRAM, passed_variables
from clawmem.app.client.request import (
    TOOLS_VARIABLE,
    Announcement,
    ToolSet,
    announced,
    fault_of_server,
    posted,
    server_file,
    token_of,
)
from clawmem.app.environment.places import default_vault
from clawmem.app.environment.private_files import log_error, make_folder, write_whole
from clawmem.app.interfaces.cli.command_line import advised
from clawmem.app.interfaces.cli.session import (
    chosen_by,
    one_of,
    refuse_with,
    report_new,
    settings_of,
    settings_of_usual,
    show,
    show_outcome,
    text_on_stdin,
    typed_parameters,
)
from clawmem.app.interfaces.hooks.handlers import HANDLERS, HookContext
from clawmem.app.interfaces.hooks.process import run_process
from clawmem.app.interfaces.hooks.protocol import HookEvent
from clawmem.app.interfaces.mcp.proxy import forwarded
from clawmem.app.services.maintenance.status import WATCH, logged_errors
from clawmem.app.settings.model import Settings
from clawmem.domain.maintenance.schedule import LaneName
from clawmem.ports.errors import ClawmemError, ConfigError, InvalidInput

if TYPE_CHECKING:
    from clawmem.app.services.indexing.watching import WatchEvent

cli = typer.Typer(rich_markup_mode=None)

STOPS_WITHIN_S = 20.0  # a server answers requests in progress for 10 seconds


@cli.command()
def serve(
    ctx: typer.Context,
    host: Annotated[str, typer.Option(help="Address to listen on; prefer the local one.")] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option(min=0, max=65_535, help="[default: 7438, or a free one]", show_default=False)
    ] = None,
    names: Annotated[
        list[str] | None,
        typer.Option("--name", help="One more name that the server goes by.", show_default=False),
    ] = None,
    no_token: Annotated[bool, typer.Option("--no-token", help="Let every local process connect.")] = False,
    no_watch: Annotated[bool, typer.Option("--no-watch", help="Leave new and changed files alone.")] = False,
    idle_exit: Annotated[
        float | None,
        typer.Option(min=0.001, metavar="MINUTES", help="Exit after that idle time.", show_default=False),
    ] = None,
    background: Annotated[bool, typer.Option("--background", help="Go on without this terminal.")] = False,
    status: Annotated[bool, typer.Option("--status", help="Say whether one runs, and where.")] = False,
    stop: Annotated[bool, typer.Option("--stop", help="Stop the one that runs.")] = False,
) -> None:
    """
    Run the server: keep the vault open and answer over HTTP.

    Hooks are faster with it, and start it unless the config file says "server: manual". Ctrl-C stops it. --status and
    --stop exit with 1 when no server runs, --status also when it is of no use. --background is content with one that runs.
    """
    for mode in ("--status", "--stop"):
        refuse_with(ctx, mode)
    faults = list[object]()
    settings = settings_of(ctx, faults.append if stop or status else None)
    vault = settings.vault
    server = announced(vault) if is_running(vault) else None
    now = {"--port": port == server.port, "--host": host == server.listens} if server else {}
    typed = [name for name in typed_parameters(ctx) if name != "--background" and not now.get(name)]
    if server and typed and not (stop or status):
        fault = f"{vault} is already served at {server.url}, so {' and '.join(typed)} would change nothing."
        fault = f"{fault} First run: clawmem serve --stop"
        if not background or {*typed} & {"--port", "--host"}:
            raise InvalidInput("INVALID_INPUT", fault)
        typer.echo(f"clawmem: {fault}", err=True)
    if stop:
        _stop(ctx, vault, server)
    elif status:
        _show_status(ctx, settings, server, faults)
    elif background or server:
        _start(ctx, is_new=server is None)
    else:
        from clawmem.app.serve.server import Choices
        from clawmem.app.serve.server import serve as serve_vault

        def ready(server: Announcement) -> None:
            text = f"{vault} is served at {_place(server)}. Ctrl-C ends it."
            with suppress(OSError):  # it serves without a reader of this line, too
                show_outcome(ctx, {"url": server.url, "vault": str(vault)}, text)
                sys.stdout.flush()  # the process that started the server may wait for it

        chosen = Choices(host, port, tuple(names or ()), no_token, not no_watch, idle_exit and idle_exit * 60)
        serve_vault(settings_of_usual(ctx, "serve"), chosen, os.environ, ready)
        os._exit(0)  # a request that hangs in a thread does not keep the process


def _place(server: Announcement) -> str:
    """Return the address that was chosen for *server*, and whether others in the network can reach it."""
    if server.listens.startswith("127.") or server.listens == "::1":
        return server.url
    chosen = server._replace(host=server.listens).authority
    return f"{chosen}, which others in the network can reach with the token (here: {server.url})"


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
    text = f"{vault} is {'' if is_new else 'already '}served at {_place(server)}. Its log is {log}"
    show_outcome(ctx, record, text)


def _stop(ctx: typer.Context, vault: Path, server: Announcement | None) -> None:
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


def _show_status(
    ctx: typer.Context, settings: Settings, server: Announcement | None, faults: list[object]
) -> None:
    """Show whether a server runs and is of use; exit with 1 otherwise, and for *faults* of the settings."""
    vault, automatic = settings.vault, is_automatic(os.environ, settings)
    fault = fault_of_server(server) if server else ""
    record = {"vault": str(vault), "running": bool(server), "answers": bool(server) and not fault}
    record["automatic"] = automatic
    lines = [f"No server of {vault} runs."]
    if server:
        record |= {"url": server.url, "pid": server.pid, "version": server.version}
        lines = [f"{vault} is served at {_place(server)} by process {server.pid} ({server.version})."]
    lines.append("Hooks start a server when none runs." if automatic else "Hooks start no server.")
    faults += [fault] if fault else []
    if server_file(vault, "server-start").exists():
        log = server_file(vault, "server-log")
        faults.append(f"A hook started a server that does not answer yet. See {log}")
    try:
        with open_services(settings, read_only=True) as services:
            lines.append(services.watch_state())
        problems = [*logged_errors(vault, time_ns() / 1e6, WATCH)]
        record |= {"watcher": lines[-1], "problems": problems}
        lines += [f"Problem of the last day: {problem}" for problem in problems]
    except ClawmemError as error:
        faults.append(str(error))
    show_outcome(ctx, record, "\n".join(lines))
    for text in faults:
        typer.echo(advised(str(text), chosen_by(ctx).vault), err=True)
    if faults or not server:
        raise typer.Exit(1)


@cli.command()
def ui(
    ctx: typer.Context,
    print_only: Annotated[bool, typer.Option("--print", help="Only print the address.")] = False,
) -> None:
    """
    Open the page of the memory in a browser: search, notes, and what prompts received.

    The address works once, within two minutes; the browser keeps the session. A server is started if none runs.
    """
    settings = settings_of_usual(ctx, "ui")
    require_vault(settings)
    vault = settings.vault
    server = started_server(vault, [], os.environ)
    answer = posted(server, "/ui-address", token_of(vault, os.environ), b"{}", first_s=1.0, answer_s=10.0)
    if not answer:
        raise ClawmemError(f"The server at {server.url} refuses this. Restart it: clawmem serve --stop")
    url = server.url + json.loads(answer)["path"]
    show_outcome(ctx, {"url": url, "opened": not print_only and webbrowser.open(url)}, url)


@cli.command()
def mcp(
    ctx: typer.Context,
    tools: Annotated[
        str | None,
        typer.Option(help="clawmem (ten tools), all, or files; else CLAWMEM_MCP_TOOLS.", show_default=False),
    ] = None,
) -> None:
    """Run the MCP server on stdin and stdout for an assistant; a running server answers. See clawmem setup mcp."""
    name = tools or os.environ.get(TOOLS_VARIABLE) or ToolSet.CLAWMEM
    chosen = ToolSet(one_of("--tools" if tools else TOOLS_VARIABLE, name, tuple(ToolSet)))
    wire = os.fdopen(os.dup(0), "rb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # no child process reads it
    if not (ctx.obj.alone or ctx.obj.backend) and forwarded(ctx.obj.vault, chosen, wire):
        return
    from clawmem.app.interfaces.mcp.server import MemoryServer
    from clawmem.app.operations.dispatch import Dispatcher
    from clawmem.app.serve.background import at_work, lane_threads

    settings = settings_of(ctx)  # errors in the settings are reported before the first request
    lanes = lane_threads(settings, partial(log_error, settings.vault))
    if any(lane.name == LaneName.HEAVY for lane in lanes):
        typer.echo(
            "clawmem mcp ends with its session, perhaps before the quiet hours of the heavy lane. "
            "Let clawmem serve or clawmem watch work in it.",
            err=True,
        )
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # else the process waits for the thread that reads the input
    with at_work(lanes):
        MemoryServer(Dispatcher(lambda: settings_of(ctx)), chosen, wire).run("stdio")
    # Threads may still work for cancelled requests. Ending now is safe, because every write is atomic.
    os._exit(0)


@cli.command()
def surface(
    ctx: typer.Context,
    question: Annotated[
        list[str] | None,
        typer.Argument(metavar="PROMPT", help="The prompt, or the id of the session with --bootstrap."),
    ] = None,
    context: Annotated[bool, typer.Option("--context", help="For a prompt, as by default.")] = False,
    bootstrap: Annotated[bool, typer.Option("--bootstrap", help="For the start of a session.")] = False,
    stdin: Annotated[bool, typer.Option("--stdin", help="Read the prompt or the id from stdin.")] = False,
) -> None:
    """Print the context block of a prompt or a session start; nothing if no block would be added."""
    if (context and bootstrap) or bool(question) == stdin:
        raise InvalidInput(
            "INVALID_INPUT",
            'Give a prompt: clawmem surface "PROMPT", or clawmem surface --stdin; --bootstrap takes the id of a session.',
        )
    require_vault(settings := settings_of(ctx))
    os.environ["INDEX_PATH"] = str(settings.vault)  # the variable from which hooks read the path
    text = " ".join(question) if question else text_on_stdin()
    here, event = HookContext(os.environ), HookEvent("UserPromptSubmit", prompt=text, cwd=str(Path.cwd()))
    hooks = ("session-bootstrap", "staleness-check") if bootstrap else ("context-surfacing",)
    if bootstrap:
        session_id = text.strip() or f"io6-{time_ns() // 1_000_000}"
        event = event._replace(name="SessionStart", prompt="", session_id=session_id)
    if block := "\n".join(filter(None, (HANDLERS[hook](event, here) for hook in hooks))):
        typer.echo(block)


@cli.command()
def hook(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="EVENT", help="UserPromptSubmit, Stop ..., or one hook.")],
) -> None:
    """Run the hooks of an event: read JSON from stdin, write the response to stdout. The exit code is always 0."""
    run_process([name, "--vault", str(settings_of(ctx).vault), *(["--alone"] if ctx.obj.alone else [])])


@cli.command()
def watch(
    ctx: typer.Context,
    every: Annotated[float, typer.Option(min=1.0, metavar="SECONDS", help="Period of full passes.")] = 300.0,
) -> None:
    """
    Watch the collections and read changes until Ctrl-C; run the lanes that the settings turn on.

    Only one of several watchers of a vault works; the others wait for its end. With --json each line is an object.
    """
    from clawmem.app.serve import background

    settings = settings_of_usual(ctx, "watch")
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):  # early, because a signal may arrive during startup
        signal.signal(number, lambda *_: stop.set())
    lanes = background.lane_threads(settings, lambda lane, error: typer.echo(f"{lane}: {error}", err=True))
    with open_services(settings, create=bool(settings.collections)) as services:
        report_new(services)

    def tell(event: WatchEvent) -> None:
        if chosen_by(ctx).json:
            record = {name: value for name, value in asdict(event).items() if name != "report" or value}
            typer.echo(json.dumps(record, ensure_ascii=False))
        elif event.event == "problem":
            typer.echo(event.text, err=True)
        else:
            show(advised(event.text, chosen_by(ctx).vault))
        sys.stdout.flush()

    with background.at_work(lanes):
        background.work_on_vault(settings, partial(background.watch, tell=tell, every_s=every), stop)


@cli.command("install-service")
def install_service(
    ctx: typer.Context,
    enable: Annotated[bool, typer.Option("--enable", help="Start it, now and at every login.")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Take the service out.")] = False,
) -> None:
    """Install the watcher as a user service of systemd that starts at login."""
    refuse_with(ctx, "--remove")
    settings = settings_of_usual(ctx, "install-service")
    vault = settings.vault.absolute()
    if sys.platform != "linux":
        raise ConfigError("Services are installed for systemd. Let this system start: clawmem watch")
    variables = ONE_HEAP | passed_variables(os.environ)
    # Without INDEX_PATH the service would take its vault for one with collections of its own.
    if os.environ.get("INDEX_PATH"):
        variables["INDEX_PATH"] = str(default_vault(os.environ).absolute())
    if path := os.environ.get("PYTHONPATH"):
        variables["PYTHONPATH"] = path
    if not remove:
        require_vault(settings)
    config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    file = config / "systemd" / "user" / "clawmem-watcher.service"
    text = "" if remove else unit_of((*PROGRAM, "watch", "--vault", str(vault)), variables)
    following = f"systemctl --user {'stop' if remove else 'enable --now'} {file.name}"
    is_there = file.exists()
    try:
        if remove:
            for place in file, file.parent / "default.target.wants" / file.name:  # the link of "enable"
                place.unlink(missing_ok=True)
        else:
            make_folder(file.parent)
            write_whole(file, text.encode())
        if enable:
            subprocess.run(following.split(), check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        reason = " ".join((getattr(error, "stderr", "") or str(error)).split()).rstrip(".")
        remedy = f"In a login session of this user, run: {following}"
        raise ConfigError(f"The service {file} is not installed as wanted: {reason}. {remedy}") from error
    outcome = f"{file}: {'deleted' if remove else 'written'}."
    outcome += "\nIt runs now, and from every login on." if enable else f"\nNext: {following}"
    if remove and not is_there:
        outcome, following = f"There is no service {file}. Nothing was changed.", ""
    show_outcome(ctx, {"file": str(file), "text": text, "next": following, "enabled": enable}, outcome)


def unit_of(command: Sequence[str], variables: Mapping[str, str]) -> str:
    """Return the unit of systemd that runs *command* with *variables* at every login."""

    def quoted(text: str) -> str:
        escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return '"' + escaped.replace("%", "%%") + '"'  # a percent sign starts a specifier

    # A dollar sign starts a variable in commands, but not in Environment.
    start = " ".join(quoted(word.replace("$", "$$")) for word in command)
    environment = "".join(f"Environment={quoted(f'{name}={value}')}\n" for name, value in variables.items())
    return f"""\
[Unit]
Description=clawmem keeps the memory up with your notes

[Service]
Type=simple
{environment}ExecStart={start}
Restart=on-failure
RestartSec=5
TimeoutStopSec=20

[Install]
WantedBy=default.target
"""
