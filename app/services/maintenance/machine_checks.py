"""Check of the MCP servers of a client: each set of tools offered once, by a program that exists."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from shutil import disk_usage
from typing import Any

from clawmem.app.client.announcement import announced
from clawmem.app.client.autostart import is_running
from clawmem.app.client.hook_registry import EVENTS
from clawmem.app.client.request import version_fault
from clawmem.app.environment.private_files import make_private
from clawmem.app.services.maintenance.finding import Check, CheckResult, attempt
from clawmem.app.services.setup.hooks import HOOKS as HOOKS_MEMBER
from clawmem.app.services.setup.hooks import SERVERS as MEMBER
from clawmem.app.services.setup.hooks import (
    Entry,
    fault_of_set,
    group_faults,
    has_plugin,
    installed,
    is_ours,
    is_over_http,
    offer_of,
)
from clawmem.app.services.setup.settings_file import SettingsFile
from clawmem.ports.errors import ConfigError

HOOKS = "hooks of Claude Code"
REMOVE = "Run: clawmem setup hooks --remove"
PROJECT, PROJECT_FILES = ".claude", ("settings.json", "settings.local.json")
SERVERS = "tools of Claude Code"
PLUGIN = "the clawmem plugin"
REMOVE_SERVERS = "clawmem setup mcp --remove"


class _ClientSettings:
    """
    ``settings.json`` of Claude Code, or another file of its folder that contains a JSON object.

    Raises:
        ConfigError: the file is no plain JSON object.
    """

    def __init__(self, folder: Path, name: str = "settings.json") -> None:
        self._settings = SettingsFile(folder / name)
        self._object = self._settings.document.value
        self.file = self._settings.file

    @property
    def hooks(self) -> dict[str, Any]:
        """
        The hooks of all programs: see `clawmem.app.services.setup.hooks.Hooks`.

        Raises:
            ConfigError: they have a shape that the client does not read either.
        """
        hooks = self._object.get(HOOKS_MEMBER, {})
        for key, expected in group_faults(hooks):
            raise ConfigError(f"{self.file}: {key} must be {expected}. Correct it, then try again.")
        return hooks  # type: ignore[no-any-return]

    def member(self, name: str) -> dict[str, Any]:
        """Return the object *name*; empty if it does not exist. Raises `ConfigError` if it is no object."""
        found = self._object.get(name, {})
        if not isinstance(found, dict):
            raise ConfigError(f"{self.file}: {name!r} is no object. Correct it, then try again.")
        return found

    @property
    def has_plugin(self) -> bool:
        """Whether the clawmem plugin is enabled, which includes the hooks."""
        return has_plugin(self._object)


def hook_check(folder: Path, project: Path | None = None) -> Check:
    """Return a check of the hooks in the settings in *folder* and in *project*. It reads settings, runs nothing."""
    return partial(_examined, folder, project)


def _examined(folder: Path, project: Path | None) -> CheckResult:
    settings = _ClientSettings(folder)
    ours = installed(settings.hooks)
    elsewhere = _elsewhere(settings, project)
    if settings.has_plugin:
        return _beside_plugin(f"{settings.file if ours else project}", [*ours, *elsewhere])
    names = [name for name, _ in ours]
    if not ours:
        there = ", ".join(name for name, _ in elsewhere)
        told = f"{there} in {project}" if there else "not installed; clawmem setup hooks does it"
        return CheckResult(HOOKS, True, told)
    if more := sorted({name for name, program in elsewhere if name in names and (name, program) not in ours}):
        detail = (
            f"{', '.join(more)} in {settings.file} and once more in {project}: every event is answered twice"
        )
        return CheckResult(HOOKS, False, detail, f"{REMOVE}  (Or remove them from the project's {PROJECT}.)")
    if over_http := sorted({name for name, target in ours if is_over_http(target)}):
        detail = (
            f"{settings.file} requests {', '.join(over_http)} from a server: every turn fails while none runs"
        )
        return CheckResult(
            HOOKS, False, detail, "Run: clawmem setup hooks  (Its commands use a server if one runs.)"
        )
    if gone := sorted({program for _, program in ours if not is_startable(program)}):
        detail = f"{settings.file} calls {', '.join(gone)}, which no longer exists"
        return CheckResult(HOOKS, False, detail, "Run: clawmem setup hooks")
    if fault := fault_of_set(names, EVENTS, [name for name, _ in elsewhere]):
        remedy = "Run: clawmem setup hooks  (It replaces all clawmem hooks.)"
        return CheckResult(HOOKS, False, f"{settings.file} {fault}", remedy)
    return CheckResult(HOOKS, True, f"{', '.join(names)} in {settings.file}")


def _elsewhere(settings: _ClientSettings, project: Path | None) -> list[tuple[str, str]]:
    """Return our hooks in the settings of *project*."""
    if project is None:
        return []
    files = [_ClientSettings(project / PROJECT, name) for name in PROJECT_FILES]
    return [ours for file in files if file.file != settings.file for ours in installed(file.hooks)]


def _beside_plugin(where: str, ours: list[tuple[str, str]]) -> CheckResult:
    if not ours:
        return CheckResult(HOOKS, True, "installed by the clawmem plugin")
    detail = f"installed twice, by the clawmem plugin and in {where}: every prompt gets the block twice"
    return CheckResult(HOOKS, False, detail, f"{REMOVE}  (Project settings are not changed.)")


def is_startable(program: str) -> bool:
    """Whether *program* exists. A name without a folder counts as existing: the client resolves it in its own PATH."""
    path = Path(program)
    return not path.is_absolute() or path.exists()


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
    return partial(_examined_servers, folder, servers, project)


def _examined_servers(folder: Path, servers: Path, project: Path | None) -> CheckResult:
    ours = _ours(servers, project)
    by_offer: dict[tuple[str, ...], list[str]] = {(): [PLUGIN]} if _ClientSettings(folder).has_plugin else {}
    for name, entry in ours.items():
        by_offer.setdefault(offer_of(entry), []).append(name)
    if twice := [names for names in by_offer.values() if len(names) > 1]:
        detail = (
            f"the same tools are offered twice, by {' and '.join(twice[0])}: every session reads them twice"
        )
        return CheckResult(
            SERVERS, False, detail, f"Run: {REMOVE_SERVERS}  (A project's .mcp.json is not changed.)"
        )
    commands = {str(entry.get("command", "")) for entry in ours.values()}
    if gone := sorted(command for command in commands if not is_startable(command)):
        detail = f"{', '.join(ours)} would start {', '.join(gone)}, which no longer exists"
        return CheckResult(SERVERS, False, detail, f"Run: {REMOVE_SERVERS}; clawmem setup mcp")
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
    user = _ClientSettings(servers.parent, servers.name)
    every = user.member(MEMBER)
    if project is not None:
        here = user.member("projects").get(str(project))
        every |= _ClientSettings(project, ".mcp.json").member(MEMBER)
        every |= here.get(MEMBER, {}) if isinstance(here, dict) else {}
    return {name: entry for name, entry in every.items() if is_ours(entry)}


LEAST_BYTES = 1 << 20  # enough for a log and a few notes
PERMISSIONS = "permissions"


def disk_findings(vault: Path) -> list[CheckResult]:
    """Return a finding if *vault* cannot be written or its disk is full; none if the space is unknown."""
    if not (os.access(vault, os.W_OK) and os.access(vault.parent, os.W_OK)):
        detail = f"{vault} cannot be written. Search works, but nothing is indexed or remembered"
        return [CheckResult("disk", False, detail, "Check the permissions of the file and its folder.")]
    try:
        free = disk_usage(vault.parent).free
    except OSError:
        return []
    if free >= LEAST_BYTES:
        return []
    detail = f"The disk is full: {free} bytes are left for {vault}. Search works, but nothing can be written"
    return [CheckResult("disk", False, detail, "Free some space.")]


def server_findings(vault: Path) -> list[CheckResult]:
    """Return a finding if a server of another version runs; hooks and commands do not use it."""
    server = announced(vault) if is_running(vault) else None
    detail, _, remedy = version_fault(server).partition("; ") if server else ("", "", "")
    return [CheckResult("server", False, detail, remedy)] if detail else []


def permission_finding(places: Iterable[Path]) -> CheckResult:
    """Make *places* and everything below them private; return a finding that lists those that were not."""
    changed: list[Path] = []
    failed: list[Path] = []
    for place in places:
        made, left = make_private(place)
        changed += made
        failed += left
    if failed:
        remedy = f"Run as their owner: chmod -R go-rwx '{failed[0]}'"
        return CheckResult(PERMISSIONS, False, f"other users can read {_listed(failed)}", remedy)
    if changed:
        return CheckResult(PERMISSIONS, True, f"other users could read {_listed(changed)}; now only you can")
    return CheckResult(
        PERMISSIONS, True, "only you can read the vault and the files next to it, and the config file"
    )


def draft_finding(swept: list[Path]) -> CheckResult:
    """Return the finding about drafts of killed commands, which were deleted."""
    return CheckResult("drafts", True, f"deleted {_listed(swept)}" if swept else "no command left any")


def _listed(paths: list[Path]) -> str:
    more = len(paths) - 1
    return f"{paths[0]}{f' and {more} more files or folders' if more else ''}"
