"""Whether a client calls the memory, once, and with a program that is there."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from clawmem.app.services.maintenance.finding import Check, Finding
from clawmem.app.services.setup.client_settings import ClientSettings
from clawmem.app.services.setup.hook_entries import installed

HOOKS = "hooks of Claude Code"


def hook_check(folder: Path) -> Check:
    """The check of the client whose settings lie in *folder*; reads them, runs nothing."""
    return partial(_examined, folder)


def _examined(folder: Path) -> Finding:
    settings = ClientSettings(folder)
    ours = installed(settings.hooks)
    if settings.has_plugin:
        return _beside_plugin(settings, ours)
    names = [name for name, _ in ours]
    if not ours:
        return Finding(HOOKS, True, "not installed; clawmem setup hooks does it")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        detail = f"{settings.file} has {', '.join(twice)} more than once: every event is answered so often"
        return Finding(HOOKS, False, detail, "Run: clawmem setup hooks  (it renews all of ours.)")
    if gone := sorted({program for _, program in ours if not _is_there(program)}):
        detail = f"{settings.file} calls {', '.join(gone)}, which is not there any more"
        return Finding(HOOKS, False, detail, "Run: clawmem setup hooks")
    return Finding(HOOKS, True, f"{', '.join(names)} in {settings.file}")


def _beside_plugin(settings: ClientSettings, ours: list[tuple[str, str]]) -> Finding:
    if not ours:
        return Finding(HOOKS, True, "brought by the clawmem plugin")
    detail = (
        f"installed twice, by the clawmem plugin and in {settings.file}: every prompt gets the block twice"
    )
    return Finding(HOOKS, False, detail, "Run: clawmem setup hooks --remove")


def _is_there(program: str) -> bool:
    """Programs without a folder are looked for by the client, in a PATH that is not ours."""
    path = Path(program)
    return not path.is_absolute() or path.exists()
