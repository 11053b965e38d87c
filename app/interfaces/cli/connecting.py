"""Connection of clients: the request for one from the command line, its execution, and the search for installed ones."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from clawmem.app.bootstrap.opening import unopened_services
from clawmem.app.client.autostart import AUTO, MANUAL, SETTING
from clawmem.app.environment.places import config_folder
from clawmem.app.interfaces.cli.rendering import show, show_json
from clawmem.app.interfaces.cli.session import settings_of, wants_json
from clawmem.app.services.setup.clients import (
    CLIENTS,
    Request,
    connected_clients,
    found_clients,
    may_read_conversations,
    steps_of,
    unread_files,
)
from clawmem.app.services.setup.hooks import entry_of, with_environment
from clawmem.app.services.setup.parts import CLIENT_TITLES
from clawmem.app.services.setup.steps import Change, Step, apply_steps, plan_steps
from clawmem.app.settings.config_file import (
    find_config,
    read_config,
    remove_value,
    set_value,
)
from clawmem.ports.errors import ClawmemError, ConfigError, InvalidInput

if TYPE_CHECKING:
    from clawmem.app.client.tool_sets import ToolSet

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
    options = [] if tools == "clawmem" else ["--tools", str(tools)]
    entry = entry_of([*start_of_command(), "mcp", *vault_options(ctx), *options])
    return with_environment(entry, os.environ, settings_of(ctx).vault) if starts_clean else entry


def request_of(ctx: typer.Context, **chosen: Any) -> Request:
    """Return the request for a client, with the commands of this installation and the vault of the command line."""
    named = _named_vault(ctx)
    vault = str(named.resolve()) if named else ""
    return Request(
        **{"environ": os.environ, "start": start_of_command(), "server": {}, "vault": vault, **chosen}
    )


def _complete_request(ctx: typer.Context, name: str, **chosen: Any) -> Request:
    """Return the request for the client *name* that names vault and places explicitly where they are chosen."""
    is_clean = CLIENTS[name].starts_clean
    places = {text: os.environ[text] for text in PLACES if os.environ.get(text)}
    is_chosen = is_clean or _named_vault(ctx) or os.environ.get("INDEX_PATH") or "XDG_CACHE_HOME" in places
    vault = str(settings_of(ctx).vault.resolve()) if is_chosen else ""
    server = server_entry(ctx, starts_clean=is_clean)
    variables = {**places, **({"INDEX_PATH": vault} if vault else {})}
    if variables and not is_clean:
        server = {**server, "env": variables}
    return request_of(ctx, **{"server": server, "places": places, "vault": vault, **chosen})


class Connection(NamedTuple):
    """Connection of a client, or its removal: the changed files, and a sentence if hooks start a server from now on."""

    name: str
    changes: Sequence[Change]
    started: str
    allowed: bool

    @property
    def changed(self) -> bool:
        """Whether a file was changed."""
        return any(change.changed for change in self.changes)

    def record(self) -> dict[str, Any]:
        """Return the connection for JSON."""
        files = [
            {"file": change.file, "changed": change.changed, "backup": change.backup or None}
            for change in self.changes
        ]
        return {"client": self.name, "changed": self.changed, "files": files}


def _connection(
    ctx: typer.Context,
    name: str,
    chosen: Mapping[str, Any],
    *,
    yes: bool = False,
    remove: bool = False,
    dry_run: bool = False,
) -> Connection:
    """Connect the client *name*, or disconnect it. Every file is read before the first is written."""
    request = _complete_request(ctx, name, **chosen)
    allowed = name == "openclaw" and (
        yes or remove or may_read_conversations(request) or (not dry_run and _is_allowed())
    )
    steps = steps_of(name, request._replace(allowed=allowed))
    changes = plan_steps(steps, remove=remove)
    is_changed = any(change.changed for change in changes)
    started = choose_server(None, dry_run=True) if is_changed and dry_run and not remove else ""
    if is_changed and not dry_run:
        started = apply_with_server(steps, remove=remove)
    return Connection(name, changes, started, allowed)


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
    folder = {"project": Path.cwd()} if project else {}
    done = _connection(ctx, name, {**chosen, **folder}, yes=yes, remove=remove, dry_run=dry_run)
    if wants_json(ctx):
        show_json({**done.record(), "dry_run": dry_run})
    else:
        _show_connection(done, project=project, remove=remove, dry_run=dry_run)


def _show_connection(
    done: Connection, *, project: bool = False, remove: bool = False, dry_run: bool = False
) -> None:
    removed = "would be cleaned." if dry_run else "the entries of clawmem are out."
    for change in done.changes:
        show(change.line(removed if remove else ""))
    if done.changed and not remove and not dry_run:
        undo = f"clawmem setup {done.name}{' --project' if project else ''} --remove"
        show(" ".join(filter(None, ["From the next session on.", CLIENTS[done.name].hint, f"Undo: {undo}"])))
    if done.started:
        typer.echo(done.started, err=True)
    if done.name == "openclaw" and not done.allowed:
        typer.echo(
            "Without access to conversations only the tools work. Permit it: clawmem setup openclaw --yes",
            err=True,
        )


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _is_allowed() -> bool:
    question = "May the plugin read the conversations? Context and capture need it."
    return _is_terminal() and typer.confirm(question, default=False)


def offer_clients(ctx: typer.Context, *, yes: bool = False, dry_run: bool = False) -> None:
    """Find installed agents, show what would change, and connect those that the user chooses; none with *dry_run*."""
    found, known, as_json = found_clients(request_of(ctx)), list(CLIENT_TITLES), wants_json(ctx)
    yes, asks = yes and not dry_run, not (yes or dry_run) and _is_terminal()
    looks = yes or dry_run or not as_json
    outcomes = [_offer(ctx, name, yes=yes, asks=asks, quiet=as_json) for name in found] if looks else []
    if as_json:
        shown = {"clients": outcomes, "dry_run": dry_run} if yes or dry_run else {}
        show_json({"found": found, "known": known, **shown})
    elif not found:
        show(f"No agent was found. Known: {', '.join(known)}. Connect one: clawmem setup NAME")
    elif any("waiting" in outcome for outcome in outcomes):
        show("Nothing was changed. Connect all of them: clawmem setup --yes")
    if (yes or dry_run or _is_terminal()) and any("error" in outcome for outcome in outcomes):
        raise typer.Exit(ConfigError.exit_code)


def _offer(ctx: typer.Context, name: str, *, yes: bool, asks: bool, quiet: bool) -> Mapping[str, Any]:
    """Connect the client *name* if the user agrees; return the outcome. An error does not stop the others."""
    title, say = CLIENT_TITLES[name], (lambda line: None) if quiet else show
    try:
        done = _connection(ctx, name, {}, yes=yes, dry_run=not yes)
        if not done.changed:
            say(f"{title}: connected.")
            return done.record()
        say(f"{title}:" if yes else f"{title} would be changed:")
        if not quiet:
            _show_connection(done, dry_run=not yes)
        if asks and typer.confirm(f"Connect {title}?", default=True):
            _show_connection(_connection(ctx, name, {}))
        elif not (yes or asks):
            say(f"Connect it: clawmem setup {name}")
            return {**done.record(), "waiting": True}
    except (ClawmemError, OSError) as error:
        say(f"{title}: not connected. {error}")
        return {"client": name, "changed": False, "error": str(error)}
    return done.record()


def refuse_removal(name: str | None) -> None:
    """Raise `InvalidInput`, which names the connected agents: a removal needs the name of one before ``--remove``."""
    names, faults = connected_clients(os.environ), unread_files(os.environ)
    known = [f"Connected: {', '.join(names)}."] if names else [] if faults else ["No agent is connected."]
    example = name or next(iter(names), "NAME")
    remedy = f"Remove one: clawmem setup {example} --remove"
    raise InvalidInput("INVALID_INPUT", " ".join(["--remove needs an agent.", *known, *faults, remedy]))


def refuse_dry_run(name: str) -> None:
    """Raise `InvalidInput`: before a name, ``--dry-run`` would not be that of the command *name*."""
    raise InvalidInput(
        "INVALID_INPUT", f"--dry-run stands after the name. Run: clawmem setup {name} --dry-run"
    )


def check_clients(ctx: typer.Context) -> None:
    """Start the configured commands of every connected client, and print whether they answer."""
    findings = unopened_services(settings_of(ctx)).client_checks(os.environ)
    is_well = all(check.ok and not check.way_out for check in findings)
    if wants_json(ctx):
        show_json({"ok": is_well, "findings": [asdict(check) for check in findings]})
    else:
        for check in findings:
            show(check.line)
        if not findings:
            show("No agent is connected. Connect one: clawmem setup")
    if not is_well:
        raise typer.Exit(1)


def apply_with_server(steps: Sequence[Step], wanted: bool | None = None, *, remove: bool = False) -> str:
    """
    Choose a server, see `choose_server`, and apply the planned *steps*; or remove them, and the choice with the last.

    Returns:
        The change of the config file as a sentence.
    """
    if not remove:
        started = choose_server(wanted)
        apply_steps(steps)
        return started
    apply_steps(steps)
    file = find_config(config_folder(os.environ))
    if connected_clients(os.environ) or read_config(file).get(SETTING) != AUTO:
        return ""
    remove_value(file, [SETTING])
    return f"{file}: hooks start no server any more."


def choose_server(wanted: bool | None, *, dry_run: bool = False) -> str:
    """
    Write to the config file whether hooks start a server; return what changed as a sentence.

    Args:
        wanted: The choice; ``None`` keeps the one in the config file, and chooses yes if there is none.
    """
    file = find_config(config_folder(os.environ))
    now = read_config(file).get(SETTING)
    value = (now or AUTO) if wanted is None else AUTO if wanted else MANUAL
    if value == now:
        return ""
    if dry_run:
        return f"{file} would get: {SETTING}: {value}"
    set_value(file, [SETTING], value)
    if value == MANUAL:
        return f"{file}: hooks start no server any more. Stop a running one with: clawmem serve --stop"
    return (
        f"{file}: the first hook that finds no server starts one; it exits when it is idle. "
        "Undo: clawmem setup hooks --no-server"
    )
