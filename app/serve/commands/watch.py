"""Continuous updates: watch, install-service."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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

SERVICES = {"watch": "watcher", "serve": "serve"}  # the name of the service, by its command


@cli.command()
def watch(
    ctx: typer.Context,
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
    lanes = lane_threads(settings, lambda lane, error: typer.echo(f"{lane}: {error}", err=True))
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
        work_on_vault(settings, partial(watch_vault, tell=tell, every_s=every), stop)


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
    """Install a user service of systemd that starts at login."""
    name = SERVICES[one_of("The service", what, tuple(SERVICES))]
    vault = settings_of_usual(ctx, "install-service").vault.absolute()
    if sys.platform != "linux":
        raise ConfigError("Services are installed for systemd. Let this system start: clawmem watch")
    variables = ONE_HEAP | passed_variables(os.environ)
    # Without INDEX_PATH the service would take its vault for one with collections of its own.
    places = {
        "INDEX_PATH": str(default_vault(os.environ).absolute()),
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
    }
    variables |= {name: value for name, value in places.items() if os.environ.get(name)}
    file = Path.home() / ".config" / "systemd" / "user" / f"clawmem-{name}.service"
    text = "" if remove else unit_of((*PROGRAM, what, "--vault", str(vault)), variables)
    following = f"systemctl --user {'disable' if remove else 'enable'} --now {file.name}"
    try:
        if remove:
            file.unlink(missing_ok=True)
        else:
            make_folder(file.parent)
            write_whole(file, text.encode())
        if enable and not remove:
            subprocess.run(following.split(), check=True, stdout=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError) as error:
        raise ConfigError(f"The service {file} is not installed as wanted. {error}") from error
    outcome = f"{file}: {'deleted' if remove else 'written'}."
    outcome += "\nIt runs now, and from every login on." if enable and not remove else f"\nNext: {following}"
    record = {"file": str(file), "text": text, "next": following, "enabled": enable}
    show_outcome(ctx, record, outcome)


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
