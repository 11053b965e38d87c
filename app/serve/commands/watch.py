"""Continuous updates: watch, install-service."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clawmem.app.client.autostart import ONE_HEAP
from clawmem.app.client.connection import PROGRAM, passed_variables
from clawmem.app.interfaces.cli.rendering import show, stop_event
from clawmem.app.interfaces.cli.session import one_of, opened, settings_of_usual, show_outcome, wants_json
from clawmem.app.serve.background import at_work, lane_threads, work_on_vault
from clawmem.app.serve.background import watch as watch_vault
from clawmem.app.serve.service_units import Service, change_service
from clawmem.ports.errors import ConfigError

if TYPE_CHECKING:
    from clawmem.app.services.indexing.watching import WatchEvent

cli = typer.Typer(rich_markup_mode=None)

EVERY_S = 300.0  # default period of full passes over all files
WATCH = "watch"
SERVICES = {  # by command: the name and the description of the service
    WATCH: ("watcher", "keeps the memory up with your notes"),
    "serve": ("serve", "answers from the memory, and keeps it up with your notes"),
}


@cli.command()
def watch(
    ctx: typer.Context,
    embed: Annotated[bool, typer.Option("--embed", help="Also make the vectors that are missing.")] = False,
    every: Annotated[
        float, typer.Option(min=1.0, metavar="SECONDS", help="Period of full passes over all files.")
    ] = EVERY_S,
) -> None:
    """
    Watch the collections and read changes until Ctrl-C.

    Only one of several watchers of a vault works; the others wait for its end. With --json each line is an
    object. It also runs the lanes that the settings turn on: see clawmem maintain.
    """
    settings = settings_of_usual(ctx, "watch")
    stop = stop_event()
    lanes = lane_threads(settings, lambda error: typer.echo(f"lanes: {error}", err=True))
    with opened(ctx, create=True) as services:
        if services.lost_vault:
            typer.echo(services.lost_vault, err=True)
    tell = _printer(ctx)
    with at_work(lanes):
        work_on_vault(settings, partial(watch_vault, tell=tell, every_s=every, embed=embed), stop)


@cli.command("install-service")
def install_service(
    ctx: typer.Context,
    what: Annotated[
        str,
        typer.Argument(metavar="[watch|serve]", help="The watcher, or the server, which watches as well."),
    ] = WATCH,
    enable: Annotated[bool, typer.Option("--enable", help="Start it, now and at every login.")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Take the service out.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the file, change nothing.")] = False,
) -> None:
    """
    Install a user service that starts at login.

    It is a systemd user unit or a launchd agent.
    """
    name, description = SERVICES[one_of("The service", what, tuple(SERVICES))]
    service = None
    if not remove:
        packages = {"PYTHONPATH": os.environ["PYTHONPATH"]} if os.environ.get("PYTHONPATH") else {}
        variables = ONE_HEAP | packages | passed_variables(os.environ)
        vault = str(settings_of_usual(ctx, "install-service").vault.resolve())
        command = (*PROGRAM, what, "--vault", vault)
        service = Service(f"clawmem: {description}", command, variables)
    change = change_service(sys.platform, Path.home(), name, service, dry_run=dry_run)
    enables = enable and not (remove or dry_run)
    if enables:
        try:
            subprocess.run(shlex.split(change.next), check=True, stdout=subprocess.DEVNULL)
        except (OSError, subprocess.CalledProcessError) as error:
            raise ConfigError(f"The file is written, but not enabled. {error}") from error
    did = ("would be " if dry_run else "") + ("written" if change.text else "deleted")
    text = f"{change.file}: {did if change.changed else 'nothing to change'}."
    if enables:
        text += "\nIt runs now, and from every login on."
    elif dry_run and not remove:
        text = change.text.rstrip("\n")
    elif not dry_run:
        text += f"\nNext: {change.next}"
    show_outcome(ctx, {**change._asdict(), "enabled": enable, "dry_run": dry_run}, text)


def _printer(ctx: typer.Context) -> Callable[[WatchEvent], None]:
    """Return a function that prints each event as a line, or as an object with --json."""

    def show_event(event: WatchEvent) -> None:
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

    return show_event
