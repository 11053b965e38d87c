"""Command ``setup``: connects clawmem to agents, shows the entry for editors, and checks what is connected."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from clawmem.app.bootstrap.opening import unopened_services
from clawmem.app.client.autostart import AUTO, MANUAL, SETTING
from clawmem.app.client.connection import (
    PROFILE,
    PROGRAM,
    VAULT,
    WITH,
    hook_entries,
    installed_options,
    passed_variables,
)
from clawmem.app.client.hook_registry import OPTIONAL_HOOKS
from clawmem.app.client.tool_sets import ToolSet
from clawmem.app.environment.places import config_folder
from clawmem.app.interfaces.cli.dialogues import may_ask
from clawmem.app.interfaces.cli.rendering import show, show_json
from clawmem.app.interfaces.cli.session import chosen_by, command_group, one_of, settings_of, wants_json
from clawmem.app.settings.config_file import find_config, read_config, set_value
from clawmem.ports.clients import Connection, FileChange
from clawmem.ports.errors import ClawmemError, ConfigError, InvalidInput

cli = command_group()

PROFILES = ("speed", "balanced", "deep")
CLAUDE, HOOKS, MCP, CURATOR = "claude-code", "hooks", "mcp", "curator"
TOOLS = "--tools"
# Editors without hooks: the file of their MCP servers, and the member and further fields of their entries.
EDITORS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "vscode": ("mcp.json (MCP: Open User Configuration)", "servers", {"type": "stdio"}),
    "cursor": ("~/.cursor/mcp.json", "mcpServers", {}),
    "zed": ("~/.config/zed/settings.json", "context_servers", {"source": "custom", "enabled": True}),
    "windsurf": ("~/.codeium/windsurf/mcp_config.json", "mcpServers", {}),
    "json": ("the settings of your client", "mcpServers", {}),
}


@cli.command()
def setup(
    ctx: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="[NAME]", help="An agent, or hooks, mcp or curator for Claude Code.")
    ] = "",
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
    tools: Annotated[str, typer.Option(help="clawmem (ten tools), all, or files.")] = "clawmem",
    server: Annotated[
        bool | None,
        typer.Option(
            "--server/--no-server",
            help="Whether the first hook starts a server in the background.  "
            "[default: yes, unless the config file says]",
            show_default=False,
        ),
    ] = None,
    project: Annotated[
        bool, typer.Option("--project", help="Change the settings of the current folder instead.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Connect all agents found; permit what would be asked.")
    ] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Remove everything that setup added.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the change; write nothing.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Start what is configured, and report whether it answers.")
    ] = False,
) -> None:
    """
    Connect clawmem to agents, or take it out.

    Without a name: find installed agents, show the changes and ask. The entry for an editor without hooks (vscode,
    cursor, zed, windsurf, json) is printed.
    """
    optional = [one_of("--with", hook, OPTIONAL_HOOKS) for hook in ",".join(also or ()).split(",") if hook]
    options = {
        PROFILE: one_of("--profile", profile, PROFILES) if profile else "",
        WITH: ",".join(optional),
        TOOLS: one_of("--tools", tools, tuple(ToolSet)),
    }
    setup = Setup(ctx, options, project=str(Path.cwd()) if project else "", yes=yes)
    if check:
        _check(ctx)
    elif not name and remove:
        raise InvalidInput("INVALID_INPUT", "--remove needs an agent. Run: clawmem setup NAME --remove")
    elif not name:
        _offer(ctx, setup, dry_run=dry_run)
    elif name in EDITORS:
        _show_entry(ctx, setup, name)
    else:
        outcome = setup.change(name, server, remove=remove, dry_run=dry_run)
        if wants_json(ctx):
            show_json({**outcome.record(), "dry_run": dry_run})
        else:
            show("\n".join(outcome.lines))


class Outcome(NamedTuple):
    """Changes for one agent, made or planned, and remarks about them."""

    name: str
    changes: Sequence[FileChange]
    remarks: Sequence[str] = ()

    @property
    def changed(self) -> bool:
        """Whether a file changes."""
        return any(change.changed for change in self.changes)

    @property
    def lines(self) -> list[str]:
        """The changes and the remarks for people."""
        lines = []
        for change in self.changes:
            entries = "".join(f"\n  {entry}" for entry in change.entries)
            lines.append(f"{change.file}:{entries if change.changed else ' nothing to change.'}")
            if change.backup:
                lines.append(f"The file as it was before is kept as {change.backup}")
        return [*lines, *self.remarks]

    def record(self) -> dict[str, Any]:
        """Return the outcome for JSON."""
        files = [
            {"file": change.file, "changed": change.changed, "backup": change.backup or None}
            for change in self.changes
        ]
        return {"client": self.name, "changed": self.changed, "files": files}


class Setup:
    """Changes of the settings of agents, with the *options* of a command line."""

    def __init__(
        self,
        ctx: typer.Context,
        options: Mapping[str, str],
        *,
        project: str = "",
        yes: bool = False,
    ) -> None:
        self._settings, self._is_named = settings_of(ctx), chosen_by(ctx).vault is not None
        self.clients = unopened_services(self._settings).clients
        self._options, self._project, self.yes = options, project, yes

    def change(
        self, name: str, server: bool | None = None, *, remove: bool = False, dry_run: bool = False
    ) -> Outcome:
        """
        Connect the agent *name*, or one part of Claude Code, or take it out.

        Args:
            server: Whether hooks start a server; ``None`` keeps the choice of the config file, and chooses yes if it
                has none.
        """
        one_of("The agent", name, (*self.clients.titles, HOOKS, MCP, CURATOR, *EDITORS))
        agent = CLAUDE if name in (HOOKS, MCP) else name
        connection = self.connection(agent)
        connection = connection._replace(
            hooks=() if name == MCP else connection.hooks, server=() if name == HOOKS else connection.server
        )
        if remove:
            return Outcome(name, self.clients.uninstall(agent, connection, dry_run=dry_run))
        outcome = Outcome(name, self.clients.install(agent, connection, dry_run=dry_run))
        remarks = [] if name in (MCP, CURATOR) else _choose_server(server, dry_run=dry_run)
        if outcome.changed and not dry_run:
            undo = f"Undo: clawmem setup {name}{' --project' if self._project else ''} --remove"
            hint = self.clients.hints[agent]
            remarks = [" ".join(filter(None, ["From the next session on.", hint, undo])), *remarks]
        return outcome._replace(remarks=remarks)

    def connection(self, agent: str) -> Connection:
        """Return what *agent* gets. Options that were installed stay unless the command line has others."""
        vault = str(self._settings.vault.resolve())
        chosen = {**self._options, VAULT: vault if self._is_named or os.environ.get("INDEX_PATH") else ""}
        known = agent in self.clients.titles
        options = installed_options(self.clients.state(agent, self._project).commands) if known else {}
        options |= {option: value for option, value in chosen.items() if value}
        named = ["--vault", self._settings.named or vault] if self._is_named else []
        tools = options.get(TOOLS, ToolSet.CLAWMEM)
        environ = passed_variables(os.environ)
        return Connection(
            PROGRAM,
            hook_entries(options, environ),
            ["mcp", *named, *([] if tools == ToolSet.CLAWMEM else [TOOLS, tools])],
            "clawmem-files" if tools == ToolSet.FILES else "clawmem",
            environ | ({"INDEX_PATH": options[VAULT]} if options.get(VAULT) else {}),
            options.get(PROFILE, ""),
            self._project,
            may_read=self.yes,
        )


def _choose_server(wanted: bool | None, *, dry_run: bool) -> list[str]:
    """Write to the config file whether hooks start a server, see `Setup.change`; return what changed."""
    file = find_config(config_folder(os.environ))
    now = read_config(file).get(SETTING)
    value = (now or AUTO) if wanted is None else AUTO if wanted else MANUAL
    if value == now:
        return []
    if dry_run:
        return [f"{file} would get: {SETTING}: {value}"]
    set_value(file, [SETTING], value)
    if value == MANUAL:
        return [f"{file}: hooks start no server any more. Stop a running one with: clawmem serve --stop"]
    started = "the first hook that finds no server starts one; it exits when it is idle."
    return [f"{file}: {started} Undo: clawmem setup hooks --no-server"]


def _offer(ctx: typer.Context, setup: Setup, *, dry_run: bool) -> None:
    """Find installed agents, show what would change, and connect those that the user chooses; none with *dry_run*."""
    found, asks, as_json = setup.clients.found(), may_ask(ctx) and not (setup.yes or dry_run), wants_json(ctx)
    writes = setup.yes and not dry_run
    records, lines = [], []
    for name in found:
        title = setup.clients.titles[name]
        try:
            outcome = setup.change(name, dry_run=not writes)
            records.append(outcome.record())
            shown = [f"{title}:" if writes else f"{title} would be changed:", *outcome.lines]
            lines = shown if outcome.changed else [f"{title}: connected."]
        except (ClawmemError, OSError) as error:
            records.append({"client": name, "changed": False, "error": str(error)})
            lines = [f"{title}: not connected. {error}"]
        if not as_json:
            show("\n".join(lines))
        if asks and records[-1]["changed"] and typer.confirm(f"Connect {title}?", default=True):
            show("\n".join(setup.change(name).lines))
    if as_json:
        show_json(
            {"found": found, "known": [*setup.clients.titles], "clients": records, "dry_run": not writes}
        )
    elif not found:
        show(f"No agent was found. Known: {', '.join(setup.clients.titles)}. Connect one: clawmem setup NAME")
    elif not (asks or writes) and any(record["changed"] for record in records):
        show("Nothing was changed. Connect one: clawmem setup NAME, or all of them: clawmem setup --yes")
    if any("error" in record for record in records):
        raise typer.Exit(ConfigError.exit_code)


def _show_entry(ctx: typer.Context, setup: Setup, name: str) -> None:
    """Print the entry of the MCP server for the editor *name*: stdout has the text alone."""
    file, member, fields = EDITORS[name]
    connection = setup.connection(name)
    program, *arguments = [*connection.program, *connection.server]
    environ = {"env": dict(connection.environ)} if connection.environ else {}
    entry = {**fields, "command": program, "args": arguments, **environ}
    text = json.dumps({member: {connection.server_name: entry}}, ensure_ascii=False, indent=2)
    if wants_json(ctx):
        show_json({"client": name, "file": file, "config": text})
    else:
        typer.echo(f"Add this to {file}:", err=True)
        show(text)


def _check(ctx: typer.Context) -> None:
    """Start the configured commands of every connected agent, and print whether they answer."""
    findings = unopened_services(settings_of(ctx)).client_checks(os.environ)
    is_well = all(finding.ok and not finding.way_out for finding in findings)
    if wants_json(ctx):
        show_json({"ok": is_well, "findings": [asdict(finding) for finding in findings]})
    else:
        lines = [finding.line for finding in findings]
        show("\n".join(lines or ["No agent is connected. Connect one: clawmem setup"]))
    if not is_well:
        raise typer.Exit(1)
