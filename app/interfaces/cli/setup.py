"""Integration into clients: setup hooks, setup mcp, setup curator."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from clawmem.app.interfaces.cli.command_line import Verbs
from clawmem.app.interfaces.cli.session import one_of, settings_of, wants_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from clawmem.app.services.setup.curator import CuratorChange
    from clawmem.app.services.setup.hooks import Change, Entry
    from clawmem.app.services.setup.mcp import McpChange

cli = typer.Typer(rich_markup_mode=None)
setup = typer.Typer(cls=Verbs, rich_markup_mode=None, help="Put the memory into a client, or take it out.")
cli.add_typer(setup, name="setup")

PROFILES = ("speed", "balanced", "deep")


@setup.command("hooks")
def hooks(
    ctx: typer.Context,
    profile: Annotated[
        str | None,
        typer.Option(help="Amount of context for a prompt: speed, balanced or deep.", show_default=False),
    ] = None,
    also: Annotated[
        list[str] | None,
        typer.Option(
            "--with", help="More hooks, with commas: session-bootstrap, staleness-check, pretool-inject."
        ),
    ] = None,
    http: Annotated[str, typer.Option(hidden=True, show_default=False)] = "",
    client: Annotated[
        str, typer.Option(help="claude-code, whose settings are changed, or codex, whose file is shown.")
    ] = "claude-code",
    server: Annotated[
        bool | None,
        typer.Option(
            "--server/--no-server",
            help="Whether the first hook starts a server in the background.  [default: yes, unless the config file says]",
            show_default=False,
        ),
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Take the hooks out.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the file, change nothing.")] = False,
) -> None:
    """
    Install the hooks of clawmem in Claude Code, or show them for Codex.

    One entry per event runs all hooks of the event; entries of earlier versions are replaced. Profile, vault and optional
    hooks that are installed already stay, unless an option names others. All other settings stay unchanged.
    """
    from clawmem.app.environment.places import client_folder
    from clawmem.app.interfaces.cli.rendering import show, show_json
    from clawmem.app.services.setup.hooks import SetUpHooks
    from clawmem.ports.errors import InvalidInput

    if http:
        raise InvalidInput(
            "INVALID_INPUT",
            "--http was removed: hooks over HTTP print an error at every turn while no server runs. "
            "Run clawmem setup hooks without it: its commands use a running server and work without one.",
        )
    if one_of("--client", client, ("claude-code", "codex")) == "codex":
        _show_codex_hooks(ctx, profile, also)
        return
    set_up = SetUpHooks(client_folder(os.environ), dry_run=dry_run)
    change = set_up.remove() if remove else set_up.install(_entries(ctx, set_up.options, profile, also))
    chosen = "" if remove else _choose_server(server, dry_run=dry_run)
    if wants_json(ctx):
        hooks_now = {"hooks": change.hooks, "changed": change.changed, "dry_run": dry_run}
        show_json({"file": change.file, **hooks_now, **_backup_member(change.backup)})
    elif dry_run:
        show(change.text.rstrip("\n"))
    else:
        show(_told(change))
    if chosen:
        typer.echo(chosen, err=True)


@setup.command("mcp")
def mcp(
    ctx: typer.Context,
    client: Annotated[
        str, typer.Option(help="claude-code, whose file is changed; codex, gemini, cursor or json are shown.")
    ] = "claude-code",
    tools: Annotated[str, typer.Option(help="clawmem, memory or files.")] = "clawmem",
    remove: Annotated[bool, typer.Option("--remove", help="Take the server out.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the entries of clawmem; change nothing.")
    ] = False,
) -> None:
    """Register clawmem as an MCP server of an assistant."""
    from clawmem.app.client.tool_sets import ToolSet
    from clawmem.app.environment.places import client_servers
    from clawmem.app.interfaces.cli.rendering import show, show_json
    from clawmem.app.services.setup.mcp import CLIENTS, EDITED, SetUpMcp, entry_of, with_environment

    chosen = ToolSet(one_of("--tools", tools, tuple(ToolSet)))
    known = CLIENTS[one_of("--client", client, tuple(CLIENTS))]
    name, entry = _server_name(chosen), entry_of(_server_command(ctx, chosen))
    if known.starts_clean:
        entry = with_environment(entry, os.environ, settings_of(ctx).vault)
    if client != EDITED:
        shown = "" if remove else known.written(name, entry)
        if wants_json(ctx):
            show_json({"client": client, "file": known.file, "config": shown})
            return
        what = f"Take out what is called {name}." if remove else "Put this in:"
        # On stderr, so that stdout holds only the text for the file.
        typer.echo(f"{known.title} keeps its servers in {known.file}. {what}", err=True)
        if shown:
            show(shown)
        return
    set_up = SetUpMcp(client_servers(os.environ), dry_run=dry_run)
    change = set_up.remove() if remove else set_up.install(name, entry)
    if wants_json(ctx):
        servers_now = {"servers": change.servers, "changed": change.changed, "dry_run": dry_run}
        show_json({"file": change.file, **servers_now, **_backup_member(change.backup)})
    else:
        show(change.shown if dry_run else _told_of_servers(change))


@setup.command("curator")
def curator(
    ctx: typer.Context,
    remove: Annotated[bool, typer.Option("--remove", help="Take the agent out.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the file, change nothing.")] = False,
) -> None:
    """
    Give Claude Code an agent that maintains the memory.

    It works when the user says "curate memory".
    """
    from clawmem.app.environment.places import client_folder
    from clawmem.app.interfaces.cli.rendering import show, show_json
    from clawmem.app.services.setup.curator import SetUpCurator, page_of

    set_up = SetUpCurator(client_folder(os.environ), dry_run=dry_run)
    change = (
        set_up.remove() if remove else set_up.install(page_of([*start_of_command(), *_vault_options(ctx)]))
    )
    if wants_json(ctx):
        show_json({"file": change.file, "changed": change.changed, "dry_run": dry_run})
    elif dry_run:
        show(change.text.rstrip("\n"))
    else:
        show(_told_of_curator(change))


def _vault_options(ctx: typer.Context) -> list[str]:
    vault = _named_vault(ctx)
    # A named vault is passed by its name, because the collections of the config file do not belong to it.
    return ["--vault", settings_of(ctx).named or str(vault.resolve())] if vault else []


def _told_of_curator(change: CuratorChange) -> str:
    if not change.changed:
        return f"{change.file}: nothing to change."
    if not change.text:
        return f"{change.file}: the agent is out."
    return (
        f'{change.file}: from the next session on, say "curate memory". Undo: clawmem setup curator --remove'
    )


def _server_name(chosen: str) -> str:
    return "clawmem" if chosen == "clawmem" else f"clawmem-{chosen}"


def _server_command(ctx: typer.Context, chosen: str) -> list[str]:
    return [
        *start_of_command(),
        "mcp",
        *_vault_options(ctx),
        *([] if chosen == "clawmem" else ["--tools", chosen]),
    ]


def _told_of_servers(change: McpChange) -> str:
    if not change.changed:
        return f"{change.file}: nothing to change."
    if not change.servers:
        return f"{change.file}: the servers are out.{_backup_sentence(change.backup)}"
    names = ", ".join(change.servers)
    return (
        f"{change.file}: {names}. From the next session on. Undo: clawmem setup mcp --remove"
        f"{_backup_sentence(change.backup)}"
    )


def _show_codex_hooks(ctx: typer.Context, profile: str | None, also: Sequence[str] | None) -> None:
    from clawmem.app.interfaces.cli.rendering import show, show_json
    from clawmem.app.services.setup.hooks import codex_hooks

    shown, file = codex_hooks(_entries(ctx, {}, profile, also)), "~/.codex/hooks.json"
    if wants_json(ctx):
        show_json({"client": "codex", "file": file, "config": shown})
        return
    # On stderr, so that stdout holds only the text for the file.
    typer.echo(f"Codex keeps its hooks in {file}; review them with /hooks. Put this in:", err=True)
    show(shown)


def installed(ctx: typer.Context) -> list[str]:
    """Install the default hooks; return the result as lines."""
    from clawmem.app.environment.places import client_folder
    from clawmem.app.services.setup.hooks import SetUpHooks

    set_up = SetUpHooks(client_folder(os.environ))
    lines = [_told(set_up.install(_entries(ctx, set_up.options)))]
    return [*lines, *filter(None, [_choose_server(None)])]


def _choose_server(wanted: bool | None, *, dry_run: bool = False) -> str:
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


def _entries(
    ctx: typer.Context, kept: Mapping[str, str], profile: str | None = None, also: Sequence[str] | None = None
) -> list[Entry]:
    """
    Return one entry for each event, with the commands of this installation.

    Args:
        kept: Options of the installed entries, for those that are not given.
        also: Optional hooks.
    """
    from clawmem.app.client.hook_registry import EVENTS, OPTIONAL_HOOKS, call_named
    from clawmem.app.services.setup.hooks import PROFILE, VAULT, WITH, Entry

    profile = one_of(PROFILE, profile, PROFILES) if profile else kept.get(PROFILE)
    optional = ",".join(
        one_of(WITH, name, OPTIONAL_HOOKS) for name in ",".join(also or ()).split(",") if name
    ) or kept.get(WITH, "")
    named = _named_vault(ctx)
    vault = str(named.resolve()) if named else kept.get(VAULT)
    start = start_of_command()
    entries = []
    for event in EVENTS:
        call = call_named(event, optional)
        if call is None or not call.hooks:
            continue
        added = [name for name in call.hooks if name in OPTIONAL_HOOKS]
        options = {
            VAULT: vault,
            PROFILE: profile if "context-surfacing" in call.hooks else None,
            WITH: ",".join(added),
        }
        given = (word for option, value in options.items() if value for word in (option, value))
        entries.append(Entry(event, call.matcher, (*start, "hook", event, *given), call.patience_s))
    return entries


def start_of_command() -> tuple[str, ...]:
    """
    Return the start of a command that runs this package with this interpreter in any folder.

    A project that Claude Code works on may contain a ``json.py``: nothing may be imported from its folder.
    """
    isolated = (sys.executable, "-I", "-m", "clawmem")
    tried = subprocess.run([*isolated, "--version"], check=False, capture_output=True)
    if tried.returncode == 0:
        return isolated
    return (sys.executable, "-P", "-m", "clawmem")  # installed for one user, or found through PYTHONPATH


def _named_vault(ctx: typer.Context) -> Path | None:
    """Return the vault of the command line; ``None`` if it names none, because hooks then find the same vault."""
    return settings_of(ctx).vault if getattr(ctx.obj, "vault", None) else None


def _told(change: Change) -> str:
    if not change.changed:
        return f"{change.file}: nothing to change."
    backup = _backup_sentence(change.backup)
    if not change.hooks:
        return f"{change.file}: the hooks are out. Sessions that are open keep them until they end.{backup}"
    names = ", ".join(change.hooks)
    return (
        f"{change.file}: {names}.\n"
        f"They work from the next session on. Undo: clawmem setup hooks --remove{backup}"
    )


def _backup_sentence(backup: str) -> str:
    return f"\nThe file as it was before is kept as {backup}" if backup else ""


def _backup_member(backup: str) -> dict[str, str]:
    return {"backup": backup} if backup else {}
