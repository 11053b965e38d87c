"""Continuous updates: watch, install-service."""

from __future__ import annotations

import json
import os
import plistlib
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from clawmem.app.bootstrap.opening import open_services
from clawmem.app.client.autostart import ONE_HEAP
from clawmem.app.client.connection import PROGRAM, passed_variables
from clawmem.app.environment.places import default_vault
from clawmem.app.environment.private_files import make_folder, write_whole
from clawmem.app.interfaces.cli.rendering import show, stop_event
from clawmem.app.interfaces.cli.session import one_of, settings_of_usual, show_outcome, wants_json
from clawmem.ports.errors import ConfigError

if TYPE_CHECKING:
    from clawmem.app.services.indexing.watching import WatchEvent

cli = typer.Typer(rich_markup_mode=None)

SERVICES = {  # by command: the name and the description of the service
    "watch": ("watcher", "keeps the memory up with your notes"),
    "serve": ("serve", "answers from the memory, and keeps it up with your notes"),
}
RESTARTS_AFTER_S = 5
STOPS_WITHIN_S = 20  # slightly more than watcher and server need to stop


@cli.command()
def watch(
    ctx: typer.Context,
    embed: Annotated[bool, typer.Option("--embed", help="Also make the vectors that are missing.")] = False,
    every: Annotated[
        float, typer.Option(min=1.0, metavar="SECONDS", help="Period of full passes over all files.")
    ] = 300.0,
) -> None:
    """
    Watch the collections and read changes until Ctrl-C.

    Only one of several watchers of a vault works; the others wait for its end. With --json each line is an
    object. It also runs the lanes that the settings turn on: see clawmem maintain.
    """
    from clawmem.app.serve.background import at_work, lane_threads, work_on_vault
    from clawmem.app.serve.background import watch as watch_vault

    settings = settings_of_usual(ctx, "watch")
    stop = stop_event()
    lanes = lane_threads(settings, lambda error: typer.echo(f"lanes: {error}", err=True))
    with open_services(settings):
        pass  # a missing vault is created

    def tell(event: WatchEvent) -> None:
        if wants_json(ctx):
            record = asdict(event)
            if not event.report:
                del record["report"]
            typer.echo(json.dumps(record, ensure_ascii=False))
        elif event.event == "problem":
            typer.echo(event.text, err=True)
        else:
            show(event.text)
        sys.stdout.flush()

    with at_work(lanes):
        work_on_vault(settings, partial(watch_vault, tell=tell, every_s=every, embed=embed), stop)


@cli.command("install-service")
def install_service(
    ctx: typer.Context,
    what: Annotated[
        str,
        typer.Argument(metavar="[watch|serve]", help="The watcher, or the server, which watches as well."),
    ] = "watch",
    enable: Annotated[bool, typer.Option("--enable", help="Start it, now and at every login.")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Take the service out.")] = False,
) -> None:
    """
    Install a user service that starts at login.

    It is a systemd user unit or a launchd agent.
    """
    name, description = SERVICES[one_of("The service", what, tuple(SERVICES))]
    vault = settings_of_usual(ctx, "install-service").vault.absolute()
    variables = ONE_HEAP | passed_variables(os.environ)
    # Without INDEX_PATH the service would take its vault for one with collections of its own.
    places = {
        "INDEX_PATH": str(default_vault(os.environ).absolute()),
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
    }
    variables |= {name: value for name, value in places.items() if os.environ.get(name)}
    command = (*PROGRAM, what, "--vault", str(vault))
    unit = unit_of(sys.platform, Path.home(), name, f"clawmem: {description}", command, variables)
    text, following = ("", unit.end) if remove else (unit.text, unit.begin)
    try:
        if remove:
            unit.file.unlink(missing_ok=True)
        else:
            make_folder(unit.file.parent)
            write_whole(unit.file, text.encode())
        if enable and not remove:
            subprocess.run(shlex.split(following), check=True, stdout=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError) as error:
        raise ConfigError(f"The service {unit.file} is not installed as wanted. {error}") from error
    outcome = f"{unit.file}: {'deleted' if remove else 'written'}."
    outcome += "\nIt runs now, and from every login on." if enable and not remove else f"\nNext: {following}"
    record = {"file": str(unit.file), "text": text, "next": following, "enabled": enable}
    show_outcome(ctx, record, outcome)


class Unit(NamedTuple):
    """The file of a service and its text, and the commands that begin and end its start at every login."""

    file: Path
    text: str
    begin: str
    end: str


def unit_of(
    platform: str,
    home: Path,
    name: str,
    description: str,
    command: Sequence[str],
    variables: Mapping[str, str],
) -> Unit:
    """Return the unit of the service *name* for a `sys.platform`; raise `ConfigError` for another system."""
    if platform == "linux":
        unit = f"clawmem-{name}.service"
        # A dollar sign starts a variable in commands, but not in Environment.
        start = " ".join(_quoted(word.replace("$", "$$")) for word in command)
        environment = "".join(
            f"Environment={_quoted(f'{name}={value}')}\n" for name, value in variables.items()
        )
        text = f"""\
[Unit]
Description={description}

[Service]
Type=simple
{environment}ExecStart={start}
Restart=on-failure
RestartSec={RESTARTS_AFTER_S}
TimeoutStopSec={STOPS_WITHIN_S}

[Install]
WantedBy=default.target
"""
        control = f"systemctl --user {{}} --now {unit}"
        file = home / ".config" / "systemd" / "user" / unit
        return Unit(file, text, control.format("enable"), control.format("disable"))
    if platform == "darwin":
        agent = {
            "Label": f"clawmem.{name}",
            "ProgramArguments": list(command),
            "EnvironmentVariables": dict(variables),
            "RunAtLoad": True,
            "KeepAlive": {"SuccessfulExit": False},
            "ThrottleInterval": RESTARTS_AFTER_S,
            "ExitTimeOut": STOPS_WITHIN_S,
            "ProcessType": "Background",
        }
        file = home / "Library" / "LaunchAgents" / f"clawmem.{name}.plist"
        begin, end = (f"launchctl {verb} -w {shlex.quote(str(file))}" for verb in ("load", "unload"))
        return Unit(file, plistlib.dumps(agent).decode("utf-8"), begin, end)
    raise ConfigError("Services are installed for systemd and launchd. Let this system start: clawmem watch")


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return '"' + escaped.replace("%", "%%") + '"'  # a percent sign starts a specifier
