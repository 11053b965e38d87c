"""Integration into clients: one command for each, and setup hooks, setup mcp, setup curator."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clawmem.app.client.hook_registry import OPTIONAL_HOOKS
from clawmem.app.client.tool_sets import ToolSet
from clawmem.app.environment.places import client_folder
from clawmem.app.interfaces.cli.command_line import Verbs
from clawmem.app.interfaces.cli.connecting import (
    apply_with_server,
    check_clients,
    choose_server,
    connect,
    offer_clients,
    refuse_dry_run,
    refuse_removal,
    request_of,
    server_entry,
    start_of_command,
    vault_options,
)
from clawmem.app.interfaces.cli.rendering import show, show_json
from clawmem.app.interfaces.cli.session import one_of, show_outcome, wants_json
from clawmem.app.services.setup.clients import SHOWN_SERVERS, claude_hooks, claude_servers, curator_page
from clawmem.app.services.setup.hooks import CODEX_STYLE, SERVERS, names_in, own_servers
from clawmem.app.services.setup.parts import CLIENT_TITLES, ServerEntry
from clawmem.app.services.setup.settings_file import Document
from clawmem.app.services.setup.steps import Change, plan_steps, run_steps
from clawmem.ports.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


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
ShownFile = Annotated[bool, typer.Option("--dry-run", help="Show the file, change nothing.")]
Server = Annotated[
    bool | None,
    typer.Option(
        "--server/--no-server",
        help="Whether the first hook starts a server in the background.  [default: yes, unless the config file says]",
        show_default=False,
    ),
]
NO_HTTP_HOOKS = (
    "--http was removed: hooks over HTTP print an error at every turn while no server runs. "
    "Run clawmem setup hooks without it: its commands use a running server and work without one."
)


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
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would change for all agents found; write nothing.")
    ] = False,
) -> None:
    """
    Connect clawmem to agents, or take it out.

    Without a command: find installed agents, show the changes and ask.
    """
    if remove:
        refuse_removal(ctx.invoked_subcommand)
    if ctx.invoked_subcommand is None:
        check_clients(ctx) if check else offer_clients(ctx, yes=yes, dry_run=dry_run)
    elif dry_run:
        refuse_dry_run(ctx.invoked_subcommand)


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
    optional = [one_of("--with", text, OPTIONAL_HOOKS) for text in ",".join(also or ()).split(",") if text]
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
    server: Server = None,
    remove: Annotated[bool, typer.Option("--remove", help="Take the hooks out.")] = False,
    dry_run: ShownFile = False,
) -> None:
    """
    Install the hooks of clawmem in Claude Code alone, or show them for Codex.

    One entry per event runs all hooks of the event; entries of earlier versions are replaced. Profile, vault and optional
    hooks that are installed already stay, unless an option names others. All other settings stay unchanged.
    """
    if http:
        raise InvalidInput("INVALID_INPUT", NO_HTTP_HOOKS)
    chosen = _chosen(profile, also)
    if one_of("--client", client, ("claude-code", "codex")) == "codex":
        _show_codex_hooks(ctx, chosen)
        return
    step = claude_hooks(request_of(ctx, **chosen))
    [change] = plan_steps([step], remove=remove)
    if dry_run:
        started = "" if remove else choose_server(server, dry_run=True)
    else:
        started = apply_with_server([step], server, remove=remove)
    shown = change.text if dry_run else _told(change)
    _show_change(ctx, change, shown, dry_run=dry_run, hooks=names_in(change.text))
    if started:
        typer.echo(started, err=True)


@setup.command("mcp")
def mcp(
    ctx: typer.Context,
    client: Annotated[
        str, typer.Option(help="claude-code, whose file is changed; codex, gemini, cursor or json are shown.")
    ] = "claude-code",
    tools: Annotated[str, typer.Option(help="clawmem (ten tools), all, or files.")] = "clawmem",
    remove: Annotated[bool, typer.Option("--remove", help="Take the server out.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the entries of clawmem; change nothing.")
    ] = False,
) -> None:
    """Register clawmem as an MCP server of an assistant."""
    chosen = ToolSet(one_of("--tools", tools, tuple(ToolSet)))
    one_of("--client", client, ("claude-code", *SHOWN_SERVERS))
    name = "clawmem-files" if chosen is ToolSet.FILES else "clawmem"
    if client in SHOWN_SERVERS:
        entry = server_entry(ctx, chosen, starts_clean=client == "codex")
        _show_server(ctx, client, name, entry, remove=remove)
        return
    request = request_of(ctx, server=server_entry(ctx, chosen), server_name=name)
    [change] = run_steps([claude_servers(request)], remove=remove, dry_run=dry_run)
    ours = own_servers(json.loads(change.text or "{}").get(SERVERS, {}))
    now = f"{', '.join(ours)}. From the next session on. Undo: clawmem setup mcp --remove"
    shown = change.line(now if ours else "the servers are out.")
    if dry_run:
        shown = json.dumps({SERVERS: ours}, ensure_ascii=False, indent=2)
    _show_change(ctx, change, shown, dry_run=dry_run, servers=[*ours])


@setup.command("curator")
def curator(
    ctx: typer.Context,
    remove: Annotated[bool, typer.Option("--remove", help="Take the agent out.")] = False,
    dry_run: ShownFile = False,
) -> None:
    """
    Give Claude Code an agent that maintains the memory.

    It works when the user says "curate memory".
    """
    page = curator_page(client_folder(os.environ), [*start_of_command(), *vault_options(ctx)])
    [change] = run_steps([page], remove=remove, dry_run=dry_run)
    now = 'from the next session on, say "curate memory". Undo: clawmem setup curator --remove'
    told = change.line(now if change.text else "the agent is out.")
    _show_change(ctx, change, change.text if dry_run else told, dry_run=dry_run)


def _show_change(ctx: typer.Context, change: Change, shown: str, *, dry_run: bool, **facts: object) -> None:
    """Print *shown*; as JSON the file, *facts* about it and whether it changes."""
    backup = {"backup": change.backup} if change.backup else {}
    record = {"file": change.file, **facts, "changed": change.changed, "dry_run": dry_run, **backup}
    show_outcome(ctx, record, shown.rstrip("\n"))


def _show_text_for(ctx: typer.Context, client: str, file: str, text: str, sentence: str) -> None:
    """Print the *text* that the user puts into a *file* of a client that setup does not edit."""
    if wants_json(ctx):
        show_json({"client": client, "file": file, "config": text})
        return
    # On stderr, so that stdout holds only the text for the file.
    typer.echo(sentence, err=True)
    if text:
        show(text)


def _show_server(
    ctx: typer.Context, client: str, name: str, entry: Mapping[str, Any], *, remove: bool
) -> None:
    title, file, form, member = SHOWN_SERVERS[client]
    document = Document(form, "")
    if not remove:
        ServerEntry(member, name, entry).install(document)
    shown = document.text.strip("\n")
    what = f"Take out what is called {name}." if remove else "Put this in:"
    _show_text_for(ctx, client, file, shown, f"{title} keeps its servers in {file}. {what}")


def _show_codex_hooks(ctx: typer.Context, chosen: Mapping[str, str]) -> None:
    entries = request_of(ctx, **chosen).hooks(CODEX_STYLE).groups({})
    groups = {event: [group] for event, group in entries.items()}
    shown, file = json.dumps({"hooks": groups}, ensure_ascii=False, indent=2), "~/.codex/hooks.json"
    sentence = f"Codex keeps its hooks in {file}; review them with /hooks. Put this in:"
    _show_text_for(ctx, "codex", file, shown, sentence)


def installed(ctx: typer.Context) -> list[str]:
    """Install the default hooks; return the result as lines."""
    step = claude_hooks(request_of(ctx))
    [change], started = plan_steps([step]), apply_with_server([step])
    return [_told(change), *filter(None, [started])]


def _told(change: Change) -> str:
    if names := names_in(change.text):
        now = "They work from the next session on. Undo: clawmem setup hooks --remove"
        return change.line(f"{', '.join(names)}.\n{now}")
    return change.line("the hooks are out. Sessions that are open keep them until they end.")
