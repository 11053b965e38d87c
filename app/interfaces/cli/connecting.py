"""Connection of clients: the request for one from the command line, its execution, and the search for installed ones."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from clawmem.app.interfaces.cli.session import settings_of, wants_json

if TYPE_CHECKING:
    from clawmem.app.client.tool_sets import ToolSet
    from clawmem.app.services.setup.clients import Request
    from clawmem.app.services.setup.steps import Change

# Variables that choose files; agents that are started by a desktop do not have those of a shell.
PLACES = ("CLAWMEM_CONFIG_DIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")


@cache
def start_of_command() -> tuple[str, ...]:
    """
    Return the start of a command that runs this package with this interpreter in any folder.

    A project that an agent works on may contain a ``json.py``: nothing may be imported from its folder.
    """
    isolated = (sys.executable, "-I", "-m", "clawmem")
    tried = subprocess.run([*isolated, "--version"], check=False, capture_output=True)
    if tried.returncode == 0:
        return isolated
    return (sys.executable, "-P", "-m", "clawmem")  # installed for one user, or found through PYTHONPATH


def _named_vault(ctx: typer.Context) -> Path | None:
    """Return the vault of the command line; ``None`` if it names none, because hooks then find the same vault."""
    return settings_of(ctx).vault if getattr(ctx.obj, "vault", None) else None


def vault_options(ctx: typer.Context) -> list[str]:
    """Return the options that select the vault of the command line; none if it names none."""
    vault = _named_vault(ctx)
    # A named vault is passed by its name, because the collections of the config file do not belong to it.
    return ["--vault", settings_of(ctx).named or str(vault.resolve())] if vault else []


def server_entry(
    ctx: typer.Context, tools: ToolSet | str = "clawmem", *, starts_clean: bool = False
) -> Mapping[str, Any]:
    """Return the entry of the MCP server with *tools*; complete for a client that passes no variables on."""
    from clawmem.app.services.setup.mcp import entry_of, with_environment

    options = [] if tools == "clawmem" else ["--tools", str(tools)]
    entry = entry_of([*start_of_command(), "mcp", *vault_options(ctx), *options])
    return with_environment(entry, os.environ, settings_of(ctx).vault) if starts_clean else entry


def request_of(ctx: typer.Context, **chosen: Any) -> Request:
    """Return the request for a client, with the commands of this installation and the vault of the command line."""
    from clawmem.app.services.setup.clients import Request

    named = _named_vault(ctx)
    vault = str(named.resolve()) if named else ""
    return Request(
        **{"environ": os.environ, "start": start_of_command(), "server": {}, "vault": vault, **chosen}
    )


def _complete_request(ctx: typer.Context, name: str, **chosen: Any) -> Request:
    """Return the request for the client *name* that names vault and places explicitly where they are chosen."""
    from clawmem.app.services.setup.clients import CLIENTS

    is_clean = CLIENTS[name].starts_clean
    places = {one: os.environ[one] for one in PLACES if os.environ.get(one)}
    is_chosen = is_clean or _named_vault(ctx) or os.environ.get("INDEX_PATH") or "XDG_CACHE_HOME" in places
    vault = str(settings_of(ctx).vault.resolve()) if is_chosen else ""
    server = server_entry(ctx, starts_clean=is_clean)
    variables = {**places, **({"INDEX_PATH": vault} if vault else {})}
    if variables and not is_clean:
        server = {**server, "env": variables}
    return request_of(ctx, **{"server": server, "places": places, "vault": vault, **chosen})


def connect(
    ctx: typer.Context,
    name: str,
    chosen: Mapping[str, str],
    *,
    project: bool = False,
    yes: bool = False,
    remove: bool = False,
    dry_run: bool = False,
) -> None:
    """Connect the client *name*, or disconnect it, and print what changed."""
    from clawmem.app.interfaces.cli.rendering import show, show_json
    from clawmem.app.services.setup.clients import CLIENTS, steps_of
    from clawmem.app.services.setup.steps import run_steps

    allowed = name == "openclaw" and (remove or _is_allowed(yes=yes or dry_run))
    folder = {"project": Path.cwd()} if project else {}
    request = _complete_request(ctx, name, **chosen, **folder, allowed=allowed)
    changes = run_steps(steps_of(name, request), remove=remove, dry_run=dry_run)
    changed = any(change.changed for change in changes)
    started = choose_server(None) if changed and not remove and not dry_run else ""
    if wants_json(ctx):
        files = [{"file": one.file, "changed": one.changed, "backup": one.backup or None} for one in changes]
        show_json({"client": name, "changed": changed, "dry_run": dry_run, "files": files})
        return
    for change in changes:
        show(_line(change, remove=remove, dry_run=dry_run))
    if changed and not remove and not dry_run:
        undo = f"clawmem setup {name}{' --project' if project else ''} --remove"
        show(" ".join(filter(None, ["From the next session on.", CLIENTS[name].hint, f"Undo: {undo}"])))
    if started:
        typer.echo(started, err=True)
    if name == "openclaw" and not allowed:
        typer.echo(
            "Without access to conversations only the tools work. Permit it: clawmem setup openclaw --yes",
            err=True,
        )


def _is_allowed(*, yes: bool) -> bool:
    if yes or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return yes
    return typer.confirm("May the plugin read the conversations? Context and capture need it.", default=False)


def _line(change: Change, *, remove: bool, dry_run: bool) -> str:
    if not change.changed:
        return f"{change.file}: nothing to change."
    if remove:
        return f"{change.file}: {'would be cleaned' if dry_run else 'the entries of clawmem are out'}."
    entries = "".join(f"\n  {entry}" for entry in change.entries)
    return f"{change.file}:{entries}{backup_sentence(change.backup)}"


def backup_sentence(backup: str) -> str:
    """Return a line about a new backup; empty without one."""
    return f"\nThe file as it was before is kept as {backup}" if backup else ""


def offer_clients(ctx: typer.Context, *, yes: bool = False) -> None:
    """Find installed agents, show what would change, and connect those that the user chooses."""
    from clawmem.app.interfaces.cli.rendering import show, show_json
    from clawmem.app.services.setup.client_names import CLIENT_TITLES
    from clawmem.app.services.setup.clients import found_clients, steps_of
    from clawmem.app.services.setup.steps import run_steps
    from clawmem.ports.errors import ConfigError

    found = found_clients(request_of(ctx))
    if wants_json(ctx):
        show_json({"found": found, "known": list(CLIENT_TITLES)})
        return
    if not found:
        show(f"No agent was found. Known: {', '.join(CLIENT_TITLES)}. Connect one: clawmem setup NAME")
        return
    is_asking, waiting = sys.stdin.isatty() and sys.stdout.isatty(), False
    for name in found:
        try:
            changes = run_steps(steps_of(name, _complete_request(ctx, name)), dry_run=True)
        except ConfigError as error:
            show(f"{CLIENT_TITLES[name]}: {error}")
            continue
        if not any(change.changed for change in changes):
            show(f"{CLIENT_TITLES[name]}: connected.")
            continue
        show(f"{CLIENT_TITLES[name]} would be changed:")
        for change in changes:
            show(_line(change, remove=False, dry_run=True))
        if yes or (is_asking and typer.confirm(f"Connect {CLIENT_TITLES[name]}?", default=True)):
            connect(ctx, name, {}, yes=yes)
        elif not is_asking:
            show(f"Connect it: clawmem setup {name}")
            waiting = True
    if waiting:
        show("Nothing was changed. Connect all of them: clawmem setup --yes")


def check_clients(ctx: typer.Context) -> None:
    """Start the configured commands of every connected client, and print whether they answer."""
    from dataclasses import asdict

    from clawmem.app.bootstrap.client_checks import client_answers
    from clawmem.app.interfaces.cli.rendering import show, show_json

    findings = client_answers(os.environ)
    if wants_json(ctx):
        show_json({"ok": all(one.ok for one in findings), "findings": [asdict(one) for one in findings]})
    else:
        for one in findings:
            remedy = f" {one.way_out}" if one.way_out and not one.ok else ""
            show(f"{'ok  ' if one.ok else 'FAIL'}  {one.check}: {one.detail}{remedy}")
        if not findings:
            show("No agent is connected. Connect one: clawmem setup")
    if not all(one.ok for one in findings):
        raise typer.Exit(1)


def choose_server(wanted: bool | None, *, dry_run: bool = False) -> str:
    """
    Write to the config file whether hooks start a server; return what changed as a sentence.

    Args:
        wanted: The choice; ``None`` keeps the one in the config file, and chooses yes if there is none.
    """
    from clawmem.app.client.autostart import AUTO, MANUAL, SETTING
    from clawmem.app.environment.places import config_folder
    from clawmem.app.settings.config_file import choose, find_config, read_config

    file = find_config(config_folder(os.environ))
    now = read_config(file).get(SETTING)
    value = (now or AUTO) if wanted is None else AUTO if wanted else MANUAL
    if value == now:
        return ""
    if dry_run:
        return f"{file} would get: {SETTING}: {value}"
    choose(file, SETTING, value)
    if value == MANUAL:
        return f"{file}: hooks start no server any more. Stop a running one with: clawmem serve --stop"
    return (
        f"{file}: the first hook that finds no server starts one; it exits when it is idle. "
        "Undo: clawmem setup hooks --no-server"
    )
