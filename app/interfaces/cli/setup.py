"""Integration into clients: one command for each, and setup hooks, setup mcp, setup curator."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clawmem.app.interfaces.cli.command_line import Verbs
from clawmem.app.interfaces.cli.connecting import (
    backup_sentence,
    check_clients,
    connect,
    offer_clients,
    refuse_removal,
    request_of,
    vault_options,
)
from clawmem.app.interfaces.cli.session import one_of, wants_json
from clawmem.app.services.setup.client_names import CLIENT_TITLES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clawmem.app.services.setup.curator import CuratorChange
    from clawmem.app.services.setup.steps import Change

PROFILES = ("speed", "balanced", "deep")
Profile = Annotated[
    str | None,
    typer.Option(help="Amount of context for a prompt: speed, balanced or deep.", show_default=False),
]
Also = Annotated[
    list[str] | None,
    typer.Option(
        "--with", help="More hooks, with commas: session-bootstrap, staleness-check, pretool-inject."
    ),
]
Remove = Annotated[bool, typer.Option("--remove", help="Remove everything that setup added.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the change; write nothing.")]


class SetupVerbs(Verbs):
    """The group; without arguments it looks for installed agents."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super(Verbs, self).parse_args(ctx, args)


cli = typer.Typer(rich_markup_mode=None)
setup = typer.Typer(cls=SetupVerbs, rich_markup_mode=None)
cli.add_typer(setup, name="setup")


@setup.callback(invoke_without_command=True)
def agents(
    ctx: typer.Context,
    check: Annotated[
        bool, typer.Option("--check", help="Start what is configured, and report whether it answers.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Connect all agents found, without asking.")] = False,
    remove: Annotated[
        bool, typer.Option("--remove", help="Name the connected agents, and how to remove one.")
    ] = False,
) -> None:
    """
    Connect clawmem to agents, or take it out.

    Without a command: find installed agents, show the changes and ask.
    """
    if remove:
        refuse_removal(ctx.invoked_subcommand)
    if ctx.invoked_subcommand is None:
        check_clients(ctx) if check else offer_clients(ctx, yes=yes)


def _client_command(name: str, title: str) -> None:
    """Add the command of one client."""

    def command(
        ctx: typer.Context,
        profile: Profile = None,
        also: Also = None,
        project: Annotated[
            bool, typer.Option("--project", help="Change the settings of the current folder instead.")
        ] = False,
        yes: Annotated[bool, typer.Option("--yes", help="Permit what would be asked.")] = False,
        remove: Remove = False,
        dry_run: DryRun = False,
    ) -> None:
        chosen = _chosen(profile, also)
        connect(ctx, name, chosen, project=project, yes=yes, remove=remove, dry_run=dry_run)

    command.__doc__ = f"Connect {title}: context, capture and tools, as far as it supports them."
    setup.command(name)(command)


for _name, _title in CLIENT_TITLES.items():
    _client_command(_name, _title)


def _chosen(profile: str | None, also: Sequence[str] | None) -> dict[str, str]:
    """Return the profile and the optional hooks of a command line; raise `InvalidInput` for unknown ones."""
    from clawmem.app.client.hook_registry import OPTIONAL_HOOKS

    optional = [one_of("--with", one, OPTIONAL_HOOKS) for one in ",".join(also or ()).split(",") if one]
    return {
        "profile": one_of("--profile", profile, PROFILES) if profile else "",
        "optional": ",".join(optional),
    }


@setup.command("hooks")
def hooks(
    ctx: typer.Context,
    profile: Profile = None,
    also: Also = None,
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
    Install the hooks of clawmem in Claude Code alone, or show them for Codex.

    One entry per event runs all hooks of the event; entries of earlier versions are replaced. Profile, vault and optional
    hooks that are installed already stay, unless an option names others. All other settings stay unchanged.
    """
    from clawmem.app.interfaces.cli.connecting import choose_server, withdraw_server
    from clawmem.app.interfaces.cli.rendering import show, show_json
    from clawmem.app.services.setup.clients import claude_hooks
    from clawmem.app.services.setup.hooks import names_in
    from clawmem.app.services.setup.steps import apply_steps, plan_steps
    from clawmem.ports.errors import InvalidInput

    if http:
        raise InvalidInput(
            "INVALID_INPUT",
            "--http was removed: hooks over HTTP print an error at every turn while no server runs. "
            "Run clawmem setup hooks without it: its commands use a running server and work without one.",
        )
    chosen = _chosen(profile, also)
    if one_of("--client", client, ("claude-code", "codex")) == "codex":
        _show_codex_hooks(ctx, chosen)
        return
    step = claude_hooks(request_of(ctx, **chosen))
    [change] = plan_steps([step], remove=remove)
    started = "" if remove else choose_server(server, dry_run=dry_run)
    if not dry_run:
        apply_steps([step])
        started = withdraw_server() if remove else started
    if wants_json(ctx):
        hooks_now = {"hooks": names_in(change.text), "changed": change.changed, "dry_run": dry_run}
        show_json({"file": change.file, **hooks_now, **_backup_member(change.backup)})
    elif dry_run:
        show(change.text.rstrip("\n"))
    else:
        show(_told(change))
    if started:
        typer.echo(started, err=True)


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
    from clawmem.app.interfaces.cli.connecting import server_entry
    from clawmem.app.interfaces.cli.rendering import show, show_json
    from clawmem.app.services.setup.clients import SHOWN_SERVERS, claude_servers
    from clawmem.app.services.setup.json_text import read_json
    from clawmem.app.services.setup.parts import ServerEntry
    from clawmem.app.services.setup.settings_file import Document
    from clawmem.app.services.setup.steps import run_steps

    chosen = ToolSet(one_of("--tools", tools, tuple(ToolSet)))
    one_of("--client", client, ("claude-code", *SHOWN_SERVERS))
    name = "clawmem" if chosen == "clawmem" else f"clawmem-{chosen}"
    if client in SHOWN_SERVERS:
        title, file, form, member = SHOWN_SERVERS[client]
        entry = server_entry(ctx, chosen, starts_clean=client == "codex")
        shown = (
            "" if remove else ServerEntry(member, name, entry).install(Document(form, "")).text.rstrip("\n")
        )
        if wants_json(ctx):
            show_json({"client": client, "file": file, "config": shown})
            return
        what = f"Take out what is called {name}." if remove else "Put this in:"
        # On stderr, so that stdout holds only the text for the file.
        typer.echo(f"{title} keeps its servers in {file}. {what}", err=True)
        if shown:
            show(shown)
        return
    request = request_of(ctx, server=server_entry(ctx, chosen), server_name=name)
    [change] = run_steps([claude_servers(request)], remove=remove, dry_run=dry_run)
    ours = _own_servers(read_json(change.text))
    if wants_json(ctx):
        servers_now = {"servers": [*ours], "changed": change.changed, "dry_run": dry_run}
        show_json({"file": change.file, **servers_now, **_backup_member(change.backup)})
    elif dry_run:
        import json

        show(json.dumps({"mcpServers": ours}, ensure_ascii=False, indent=2))
    else:
        show(_told_of_servers(change, [*ours]))


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
    from clawmem.app.interfaces.cli.connecting import start_of_command
    from clawmem.app.interfaces.cli.rendering import show, show_json
    from clawmem.app.services.setup.curator import SetUpCurator, page_of

    set_up = SetUpCurator(client_folder(os.environ), dry_run=dry_run)
    change = (
        set_up.remove() if remove else set_up.install(page_of([*start_of_command(), *vault_options(ctx)]))
    )
    if wants_json(ctx):
        show_json({"file": change.file, "changed": change.changed, "dry_run": dry_run})
    elif dry_run:
        show(change.text.rstrip("\n"))
    else:
        show(_told_of_curator(change))


def _told_of_curator(change: CuratorChange) -> str:
    if not change.changed:
        return f"{change.file}: nothing to change."
    if not change.text:
        return f"{change.file}: the agent is out."
    return (
        f'{change.file}: from the next session on, say "curate memory". Undo: clawmem setup curator --remove'
    )


def _own_servers(settings: Mapping[str, Any]) -> dict[str, Any]:
    from clawmem.app.services.setup.mcp import SERVERS, own_servers

    return own_servers(settings.get(SERVERS, {}))


def _told_of_servers(change: Change, names: Sequence[str]) -> str:
    if not change.changed:
        return f"{change.file}: nothing to change."
    if not names:
        return f"{change.file}: the servers are out.{backup_sentence(change.backup)}"
    return (
        f"{change.file}: {', '.join(names)}. From the next session on. Undo: clawmem setup mcp --remove"
        f"{backup_sentence(change.backup)}"
    )


def _show_codex_hooks(ctx: typer.Context, chosen: Mapping[str, str]) -> None:
    import json

    from clawmem.app.interfaces.cli.rendering import show, show_json
    from clawmem.app.services.setup.hooks import CODEX_STYLE

    entries = request_of(ctx, **chosen).hooks(CODEX_STYLE).groups({})
    groups = {event: [group] for event, group in entries.items()}
    shown, file = json.dumps({"hooks": groups}, ensure_ascii=False, indent=2), "~/.codex/hooks.json"
    if wants_json(ctx):
        show_json({"client": "codex", "file": file, "config": shown})
        return
    # On stderr, so that stdout holds only the text for the file.
    typer.echo(f"Codex keeps its hooks in {file}; review them with /hooks. Put this in:", err=True)
    show(shown)


def installed(ctx: typer.Context) -> list[str]:
    """Install the default hooks; return the result as lines."""
    from clawmem.app.interfaces.cli.connecting import choose_server
    from clawmem.app.services.setup.clients import claude_hooks
    from clawmem.app.services.setup.steps import apply_steps, plan_steps

    step = claude_hooks(request_of(ctx))
    [change], started = plan_steps([step]), choose_server(None)
    apply_steps([step])
    return [_told(change), *filter(None, [started])]


def _told(change: Change) -> str:
    from clawmem.app.services.setup.hooks import names_in

    if not change.changed:
        return f"{change.file}: nothing to change."
    backup, names = backup_sentence(change.backup), names_in(change.text)
    if not names:
        return f"{change.file}: the hooks are out. Sessions that are open keep them until they end.{backup}"
    return (
        f"{change.file}: {', '.join(names)}.\n"
        f"They work from the next session on. Undo: clawmem setup hooks --remove{backup}"
    )


def _backup_member(backup: str) -> dict[str, str]:
    return {"backup": backup} if backup else {}
