"""Settings of clients with entries of clawmem, as setup writes them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from clawmem.app.services.setup.hooks import call_of
from clawmem.app.services.setup.parts import HookGroups, ServerEntry
from clawmem.app.services.setup.steps import Change, FileEdit, run_steps

OLD_PROGRAM = ("/opt/python", "-I", "-m", "clawmem", "hook", "feedback-loop")


def group_of(command: Sequence[str] = OLD_PROGRAM, matcher: str = "", timeout: int = 30) -> dict[str, Any]:
    """Return the entry of a hook that runs *command*."""
    handler = {"type": "command", "command": command[0], "args": [*command[1:]], "timeout": timeout}
    return {"matcher": matcher, "hooks": [handler]}


def edit_hooks(folder: Path, group: Mapping[str, Any] | None = None) -> FileEdit:
    """Return the edit that installs *group* at ``Stop``."""
    return FileEdit(folder / "settings.json", [HookGroups(lambda kept: {"Stop": group or group_of()})])


def put_hooks(folder: Path, *groups: Mapping[str, Any]) -> None:
    """Write *groups* at ``Stop`` in place of those of clawmem, even if one edit would not write so many."""
    file = folder / "settings.json"
    folder.mkdir(exist_ok=True, parents=True)
    settings = json.loads(file.read_text("utf-8")) if file.exists() else {}
    hooks = settings.setdefault("hooks", {})
    others = [one for one in hooks.get("Stop", []) if not call_of(one["hooks"][0])]
    hooks["Stop"] = [*others, *groups]
    file.write_text(json.dumps(settings), "utf-8")


def install_server(file: Path, name: str, entry: Mapping[str, Any]) -> Change:
    """Install the server *name* in *file*; return the change."""
    return run_steps([FileEdit(file, [ServerEntry("mcpServers", name, entry)])])[0]


def remove_servers(file: Path) -> Change:
    """Remove the servers of clawmem from *file*; return the change."""
    return run_steps([FileEdit(file, [ServerEntry("mcpServers", "clawmem", {})])], remove=True)[0]
