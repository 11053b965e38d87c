"""Check of the hooks of a client: installed once, with a program that exists."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from clawmem.app.services.maintenance.finding import Check, CheckResult
from clawmem.app.services.setup.client_settings import ClientSettings
from clawmem.app.services.setup.hook_entries import installed, is_over_http

HOOKS = "hooks of Claude Code"
REMOVE = "Run: clawmem setup hooks --remove"
PROJECT, PROJECT_FILES = ".claude", ("settings.json", "settings.local.json")


def hook_check(folder: Path, project: Path | None = None) -> Check:
    """Return a check of the hooks in the settings in *folder* and in *project*. It reads settings, runs nothing."""
    return partial(_examined, folder, project)


def _examined(folder: Path, project: Path | None) -> CheckResult:
    settings = ClientSettings(folder)
    ours = installed(settings.hooks)
    elsewhere = _elsewhere(settings, project)
    if settings.has_plugin:
        return _beside_plugin(f"{settings.file if ours else project}", [*ours, *elsewhere])
    names = [name for name, _ in ours]
    if not ours:
        there = ", ".join(name for name, _ in elsewhere)
        told = f"{there} in {project}" if there else "not installed; clawmem setup hooks does it"
        return CheckResult(HOOKS, True, told)
    if twice := sorted({name for name in names if names.count(name) > 1}):
        detail = f"{settings.file} has {', '.join(twice)} more than once: every event runs them that often"
        return CheckResult(HOOKS, False, detail, "Run: clawmem setup hooks  (It replaces all clawmem hooks.)")
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
    return CheckResult(HOOKS, True, f"{', '.join(names)} in {settings.file}")


def _elsewhere(settings: ClientSettings, project: Path | None) -> list[tuple[str, str]]:
    """Return our hooks in the settings of *project*."""
    if project is None:
        return []
    files = [ClientSettings(project / PROJECT, name) for name in PROJECT_FILES]
    return [ours for one in files if one.file != settings.file for ours in installed(one.hooks)]


def _beside_plugin(where: str, ours: list[tuple[str, str]]) -> CheckResult:
    if not ours:
        return CheckResult(HOOKS, True, "installed by the clawmem plugin")
    detail = f"installed twice, by the clawmem plugin and in {where}: every prompt gets the block twice"
    return CheckResult(HOOKS, False, detail, f"{REMOVE}  (Project settings are not changed.)")


def is_startable(program: str) -> bool:
    """Whether *program* exists. A name without a folder counts as existing: the client resolves it in its own PATH."""
    path = Path(program)
    return not path.is_absolute() or path.exists()
