"""Command ``setup``: connects clawmem to agents, shows the entry for editors, and checks what is connected."""

from __future__ import annotations

import json
import os
import shlex
import signal
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from clawmem.app.bootstrap.opening import missing_vault, unopened_services
from clawmem.app.client.autostart import is_running
from clawmem.app.client.connection import (
    PROFILE,
    PROGRAM,
    SERVER_VAULT,
    TOOLS,
    VAULT,
    WITH,
    hook_entries,
    installed_options,
    passed_variables,
)
from clawmem.app.client.hook_registry import OPTIONAL_HOOKS
from clawmem.app.client.request import ToolSet, announced
from clawmem.app.environment.places import config_folder, is_there, real_path
from clawmem.app.environment.private_files import VAULT_ENDINGS
from clawmem.app.interfaces.cli.session import (
    chosen_by,
    may_ask,
    one_of,
    refuse_with,
    settings_of,
    show,
    show_json,
    show_outcome,
)
from clawmem.app.services.indexing.collections import memory_advice
from clawmem.app.settings.config_file import locked_config
from clawmem.domain.security.redaction import redact
from clawmem.ports.clients import Connection, FileChange
from clawmem.ports.errors import ClawmemError, ConfigError, InvalidInput

cli = typer.Typer(rich_markup_mode=None)

PROFILES = ("speed", "balanced", "deep")
CLAUDE, HOOKS, MCP, CURATOR = "claude-code", "hooks", "mcp", "curator"
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
    name: Annotated[str, typer.Argument(metavar="NAME", help="An agent, or hooks, mcp or curator.")] = "",
    profile: Annotated[str, typer.Option(help="Context for a prompt: speed, balanced or deep.")] = "",
    also: Annotated[
        list[str] | None,
        typer.Option("--with", help="More hooks: session-bootstrap, staleness-check, pretool-inject."),
    ] = None,
    tools: Annotated[str, typer.Option(help="clawmem (ten tools; the default), all, or files.")] = "",
    project: Annotated[bool, typer.Option("--project", help="Change the settings of this folder.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Connect every agent found; ask nothing.")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Remove everything that setup added.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the change; write nothing.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Start what is configured, and test it.")] = False,
) -> None:
    """
    Connect clawmem to agents, or take it out.

    Without a name: find installed agents, show the changes and ask. The entry for an editor without hooks is printed.
    """
    refuse_with(ctx, "--check")
    refuse_with(ctx, "--remove", except_for=("NAME", "--project", "--tools", "--dry-run", "--yes"))
    optional = [one_of("--with", hook, OPTIONAL_HOOKS) for hook in ",".join(also or ()).split(",") if hook]
    options = {PROFILE: profile and one_of("--profile", profile, PROFILES), WITH: ",".join(optional)}
    options[TOOLS] = tools and one_of("--tools", tools, tuple(ToolSet))
    setup = Setup(ctx, options, project=str(Path.cwd()) if project else "", yes=yes)
    if check:
        findings = unopened_services(settings_of(ctx)).client_checks(os.environ, project=Path.cwd())
        is_well = all(finding.ok for finding in findings)
        texts = [finding.line for finding in findings] or ["No agent is connected. Run: clawmem setup"]
        record: dict[str, Any] = {"ok": is_well, "findings": [asdict(finding) for finding in findings]}
        show_outcome(ctx, record, "\n".join(texts))
        raise typer.Exit(0 if is_well else 1)
    if remove and not name:
        raise InvalidInput("INVALID_INPUT", "--remove needs an agent. Run: clawmem setup NAME --remove")
    if name in EDITORS:
        file, member, fields = EDITORS[name]
        if remove:
            message = f"clawmem changes no settings of {name}. Remove its entry from {file} yourself."
            raise InvalidInput("INVALID_INPUT", message)
        connection = setup.connection(name)
        program, *arguments = [*connection.program, *connection.server]
        environ = {"env": dict(connection.environ)} if connection.environ else {}
        entry = {**fields, "command": program, "args": arguments, **environ}
        text = json.dumps({member: {connection.server_name: entry}}, ensure_ascii=False, indent=2)
        if not chosen_by(ctx).json:  # stdout has the entry alone
            typer.echo(f"Add this to {file}:", err=True)
        show_outcome(ctx, {"client": name, "file": file, "config": text}, text)
    elif name:
        title = setup.clients.titles.get(name, "")
        if title and not remove and name not in setup.clients.found():
            typer.echo(f"{title} was not found here: neither its settings nor its program.", err=True)
        changes = setup.change(name, remove=remove, dry_run=dry_run)
        hidden = "" if dry_run else "-" if remove else "+"
        lines = setup.lines(name, changes, is_done=not (remove or dry_run), hidden=hidden)
        if remove and not dry_run:
            lines += [*filter(None, [setup.clients.removal_hints.get(name)]), *setup.remains()]
        show_outcome(ctx, {**_record(name, changes), "dry_run": dry_run}, "\n".join(lines))
    else:
        _offer(ctx, setup, writes=yes and not dry_run, asks=may_ask(ctx) and not (yes or dry_run))
    vault = settings_of(ctx).vault
    if not (remove or is_there(vault)):
        typer.echo(str(missing_vault(vault)), err=True)


class Setup:
    """Changes of the settings of agents, with the options of a command line."""

    def __init__(self, ctx: typer.Context, options: Mapping[str, str], *, project: str, yes: bool) -> None:
        self._settings, self._is_named = settings_of(ctx), chosen_by(ctx).vault is not None
        self.clients = unopened_services(self._settings).clients
        self._vault = self._settings.vault  # of the agent that was changed last
        self._options, self._project, self._yes = options, project, yes

    def change(self, name: str, *, remove: bool = False, dry_run: bool = False) -> list[FileChange]:
        """Connect the agent *name*, or one part of Claude Code, or take it out. Raises `ConfigError`."""
        one_of("The agent", name, (*self.clients.titles, HOOKS, MCP, CURATOR, *EDITORS))
        agent = CLAUDE if name in (HOOKS, MCP) else name
        action = self.clients.uninstall if remove else self.clients.install
        # One lock of the user, whichever vault: a file next to the settings would stay in a folder of the agent.
        with nullcontext() if dry_run else locked_config(config_folder(os.environ) / "config.yaml"):
            connection = self.connection(agent)
            self._vault = Path(connection.environ.get("INDEX_PATH") or self._settings.vault)
            connection = connection._replace(
                server=() if name == HOOKS else connection.server,
                hooks=() if name == MCP else connection.hooks,
            )
            changes = action(agent, connection, dry_run=dry_run)
            return [change._replace(entries=[*map(redact, change.entries)]) for change in changes]

    def remains(self) -> list[str]:
        """Return what stays when no agent is connected any more, with the command to delete it; stop the server."""
        vault = self._vault
        try:
            states = [*map(self.clients.state, self.clients.titles)]
        except ConfigError as error:  # of another agent
            return [f"Whether another agent is connected is not known. {error}"]
        if any(state.commands or state.has_plugin for state in states) or not is_there(vault):
            return []
        stopped = ""
        if is_running(vault) and (server := announced(vault)):
            os.kill(server.pid, signal.SIGTERM)
            stopped = "; the server was stopped"
        states_of = "states of conversations (memory/precompact-state-*.md next to transcripts)"
        text = f"No agent is connected now{stopped}. The memory stays, and so do your notes and {states_of}."
        endings = ("", *VAULT_ENDINGS)
        files = [f"{vault}{ending}" for ending in endings if os.path.exists(f"{vault}{ending}")]  # noqa: PTH110
        return [f"{text} To delete the memory: rm -rf {shlex.join(files)}"]

    def lines(
        self, name: str, changes: Sequence[FileChange], *, is_done: bool = True, hidden: str = "+"
    ) -> list[str]:
        """
        Return the changes of an agent for people; what to do next if the agent was connected (*is_done*).

        Lines of clawmem are counted, and not shown: added ones if *hidden* is ``+``, removed ones if it is ``-``.
        """
        lines = []
        for change in changes:
            shown = [line for line in change.entries if not (hidden and line.startswith(hidden))]
            count = len(change.entries) - len(shown)
            verb = "removed." if hidden == "-" else "added."
            counted = f" {count} lines {verb}" if count else ""
            lines.append(f"{change.file}:{counted if change.changed else ' nothing to change.'}")
            lines += [f"  {line}" for line in shown if change.changed]
            if change.backup:
                lines.append(f"The file as it was before is kept as {change.backup}")
        if is_done and any(change.changed for change in changes):
            hint = self.clients.hints.get(name, "")
            undo = f"Undo: clawmem setup {name}{' --project' if self._project else ''} --remove"
            lines.append(" ".join(filter(None, ["From the next session on.", hint, undo])))
            title = self.clients.titles.get(name, name)
            lines += [text for text in memory_advice(self.clients, self._settings) if text.startswith(title)]
        return lines

    def connection(self, agent: str) -> Connection:
        """Return what *agent* gets. Options that were installed stay unless the command line has others."""
        vault = str(real_path(self._settings.vault))
        chosen = {**self._options, VAULT: vault if self._is_named or os.environ.get("INDEX_PATH") else ""}
        is_known = agent in self.clients.titles
        commands = self.clients.state(agent, self._project).commands if is_known else ()
        options = installed_options(commands)
        options |= {option: value for option, value in chosen.items() if value}
        of_server = self._settings.named or vault if self._is_named else options.get(SERVER_VAULT)
        named = ["--vault", of_server] if of_server else []
        tools = ToolSet(options.get(TOOLS) or ToolSet.CLAWMEM)
        environ, added = passed_variables(os.environ), dict[str, str]()
        for command in commands:
            if not command.event and (ToolSet.FILES in command.command) is (tools is ToolSet.FILES):
                added |= command.environ.items() - passed_variables(command.environ).items()
        return Connection(
            PROGRAM,
            hook_entries(options, environ),
            ["mcp", *named, *([] if tools is ToolSet.CLAWMEM else [TOOLS, tools])],
            "clawmem-files" if tools is ToolSet.FILES else "clawmem",
            environ | ({"INDEX_PATH": options[VAULT]} if options.get(VAULT) else {}),
            added,
            options.get(PROFILE, ""),
            self._project,
            may_read=self._yes,
        )


def _record(name: str, changes: Sequence[FileChange]) -> dict[str, Any]:
    is_changed = any(change.changed for change in changes)
    return {"client": name, "changed": is_changed, "files": [change._asdict() for change in changes]}


def _offer(ctx: typer.Context, setup: Setup, *, writes: bool, asks: bool) -> None:
    """Find installed agents, and connect those that the user chooses (*asks*), all (*writes*) or none."""
    records: list[dict[str, Any]] = []
    titles, lines = setup.clients.titles, list[str]()
    for name in setup.clients.found():
        try:
            changes = setup.change(name, dry_run=not writes)
            records.append(_record(name, changes))
            state = ": connected." if writes or not records[-1]["changed"] else " would be changed:"
            lines = [f"{titles[name]}{state}"]
            if records[-1]["changed"]:
                lines += setup.lines(name, changes, is_done=writes)
        except (ClawmemError, OSError) as error:
            records.append({"client": name, "changed": False, "error": str(error)})
            lines = [f"{titles[name]}: not connected. {error}"]
        if not chosen_by(ctx).json:
            show("\n".join(lines))
        if asks and records[-1]["changed"] and typer.confirm(f"Connect {titles[name]}?", default=True):
            show("\n".join(setup.lines(name, setup.change(name))))
    if chosen_by(ctx).json:
        show_json({"known": [*titles], "clients": records, "dry_run": not writes})
    elif not records:
        show(f"No agent was found. Known: {', '.join(titles)}. Connect one: clawmem setup NAME")
    elif not (asks or writes) and any(record["changed"] for record in records):
        show("Nothing was changed. Connect one: clawmem setup NAME, or all of them: clawmem setup --yes")
    if any("error" in record for record in records):
        raise typer.Exit(ConfigError.exit_code)
