"""Putting the memory into a client: setup hooks."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from clawmem.app.cli.command_line import Verbs
from clawmem.app.cli.session import one_of, wants_json

if TYPE_CHECKING:
    from pathlib import Path

    from clawmem.app.services.setup.hook_entries import Entry
    from clawmem.app.services.setup.hooks import Change

cli = typer.Typer(rich_markup_mode=None)
setup = typer.Typer(cls=Verbs, rich_markup_mode=None, help="Put the memory into a client, or take it out.")
cli.add_typer(setup, name="setup")

PROFILES = ("speed", "balanced", "deep")


@setup.command("hooks")
def hooks(
    ctx: typer.Context,
    profile: Annotated[
        str | None,
        typer.Option(help="How much a prompt may get: speed, balanced or deep.", show_default=False),
    ] = None,
    also: Annotated[
        list[str] | None,
        typer.Option("--with", help="One more hook: session-bootstrap, staleness-check or pretool-inject."),
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Take the hooks out.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the file, change nothing.")] = False,
) -> None:
    """Let Claude Code call the memory by itself; everything else in its settings stays as it is."""
    from clawmem.app.cli.rendering import show, show_json
    from clawmem.app.places import client_folder
    from clawmem.app.services.setup.hooks import SetUpHooks

    set_up = SetUpHooks(client_folder(os.environ), dry_run=dry_run)
    change = set_up.remove() if remove else set_up.install(entries(profile, also or (), _named_vault(ctx)))
    if wants_json(ctx):
        show_json({"file": change.file, "hooks": change.hooks, "changed": change.changed, "dry_run": dry_run})
    elif dry_run:
        show(change.text.rstrip("\n"))
    else:
        show(_told(change))


def installed(ctx: typer.Context) -> list[str]:
    """Install what set-up installs unasked; what became of it, in lines."""
    from clawmem.app.places import client_folder
    from clawmem.app.services.setup.hooks import SetUpHooks

    return [_told(SetUpHooks(client_folder(os.environ)).install(entries(None, (), _named_vault(ctx))))]


def entries(profile: str | None, also: list[str] | tuple[str, ...], vault: Path | None) -> list[Entry]:
    """The hooks that set-up installs, those of *also* among them, with the commands of this installation."""
    from clawmem.app.hooks.registry import HOOKS
    from clawmem.app.services.setup.hook_entries import Entry

    optional = [name for name, hook in HOOKS.items() if not hook.installed]
    wanted = {one_of("--with", name, optional) for name in also}
    options = ["--vault", str(vault.resolve())] if vault else []
    chosen = ["--profile", one_of("--profile", profile, PROFILES)] if profile else []
    start = start_of_command()
    return [
        Entry(
            hook.event,
            hook.matcher,
            (*start, "hook", name, *options, *(chosen if name == "context-surfacing" else [])),
            hook.patience_s,
        )
        for name, hook in HOOKS.items()
        if hook.installed or name in wanted
    ]


def start_of_command() -> tuple[str, ...]:
    """
    This interpreter with this package, whatever folder it is started in.

    A project that Claude Code works on may hold a ``json.py``: nothing may be imported from there.
    """
    isolated = (sys.executable, "-I", "-m", "clawmem")
    tried = subprocess.run([*isolated, "--version"], check=False, capture_output=True)
    if tried.returncode == 0:
        return isolated
    return (sys.executable, "-P", "-m", "clawmem")  # installed for one user, or found by PYTHONPATH


def _named_vault(ctx: typer.Context) -> Path | None:
    """The vault of the command line, if it names one; else every hook looks where this command would."""
    vault: Path | None = getattr(ctx.obj, "vault", None)
    return vault.expanduser() if vault else None


def _told(change: Change) -> str:
    if not change.changed:
        return f"{change.file}: nothing to change."
    if not change.hooks:
        return f"{change.file}: the hooks are out. Sessions that are open keep them until they end."
    names = ", ".join(change.hooks)
    return f"{change.file}: {names}.\nThey work from the next session on. Undo: clawmem setup hooks --remove"
