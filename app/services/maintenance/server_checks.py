"""Check of the MCP servers of a client: each set of tools offered once, by a program that exists."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from clawmem.app.services.maintenance.finding import Check, CheckResult, attempt
from clawmem.app.services.maintenance.hook_checks import HOOKS, hook_check, is_startable
from clawmem.app.services.setup.client_settings import ClientSettings
from clawmem.app.services.setup.mcp import SERVERS as MEMBER
from clawmem.app.services.setup.mcp import Entry, is_ours, offer_of

SERVERS = "tools of Claude Code"
PLUGIN = "the clawmem plugin"
REMOVE = "clawmem setup mcp --remove"


def client_findings(folder: Path, servers: Path, project: Path | None = None) -> list[CheckResult]:
    """
    Return the findings about a client: its hooks and its tools.

    Args:
        folder: The folder of its settings.
        servers: The file that lists the MCP servers it starts.
        project: The project folder with settings of its own; ``None`` leaves project settings out.
    """
    return [
        attempt(HOOKS, hook_check(folder, project)),
        attempt(SERVERS, server_check(folder, servers, project)),
    ]


def server_check(folder: Path, servers: Path, project: Path | None = None) -> Check:
    """Return the check of a client's servers, see `client_findings`; it reads settings, runs nothing."""
    return partial(_examined, folder, servers, project)


def _examined(folder: Path, servers: Path, project: Path | None) -> CheckResult:
    ours = _ours(servers, project)
    by_offer: dict[tuple[str, ...], list[str]] = {(): [PLUGIN]} if ClientSettings(folder).has_plugin else {}
    for name, entry in ours.items():
        by_offer.setdefault(offer_of(entry), []).append(name)
    if twice := [names for names in by_offer.values() if len(names) > 1]:
        detail = (
            f"the same tools are offered twice, by {' and '.join(twice[0])}: every session reads them twice"
        )
        return CheckResult(SERVERS, False, detail, f"Run: {REMOVE}  (A project's .mcp.json is not changed.)")
    commands = {str(entry.get("command", "")) for entry in ours.values()}
    if gone := sorted(command for command in commands if not is_startable(command)):
        detail = f"{', '.join(ours)} would start {', '.join(gone)}, which no longer exists"
        return CheckResult(SERVERS, False, detail, f"Run: {REMOVE}; clawmem setup mcp")
    told = ", ".join(name for names in by_offer.values() for name in names)
    return CheckResult(
        SERVERS, True, f"offered by {told}" if told else "not set up; clawmem setup mcp does it"
    )


def _ours(servers: Path, project: Path | None) -> dict[str, Entry]:
    """
    Return our servers by name.

    The client starts one server per name. The user's entry for a project overrides the project's own entry, which
    overrides the user's entry for all projects.
    """
    user = ClientSettings(servers.parent, servers.name)
    every = user.member(MEMBER)
    if project is not None:
        here = user.member("projects").get(str(project))
        every |= ClientSettings(project, ".mcp.json").member(MEMBER)
        every |= here.get(MEMBER, {}) if isinstance(here, dict) else {}
    return {name: entry for name, entry in every.items() if is_ours(entry)}
