"""Settings of clients with entries of clawmem, as setup writes them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from clawmem.app.services.setup.hooks import call_of, installed
from clawmem.app.services.setup.parts import HookGroups, ServerEntry
from clawmem.app.services.setup.steps import Change, FileEdit, run_steps

OLD_PROGRAM = ("/opt/python", "-I", "-m", "clawmem", "hook", "feedback-loop")

SOMEBODY = """{
    "model": "opus",   "permissions": { "allow": ["Bash(ls)"] },
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "notify-send done"}]}],
        "PostToolUse": [{"matcher": "Edit", "hooks": [{"type": "command", "command": "ruff format"}]}]
    },
    "env": {"LANG": "de_DE", "NOTE": "größe \\u00e9", "big": 1.50}
}
"""
OLD_FORM = {"type": "command", "command": "/usr/local/bin/clawmem hook decision-extractor", "timeout": 10}
COMMENTED = """{
  // colours of the evening
  "theme": "dark", /* not light */
  "mcpServers": {
    "weather": { "command": "weather", "env": {"KEY": "secret"} }, // from Priya
  },
  "hooks": {
    "BeforeAgent": [ { "hooks": [ { "type": "command", "command": "date" } ] } ]
  },
  "plugins": { "slots": { "memory": "memory-core" }, "load": { "paths": ["/opt/other"] } }
}
"""
JSON5 = """{
  // of the gateway
  gateway: { port: 0x4951, 'mode': 'local', greeting: 'it\\'s \\
me', },
  plugins: {
    slots: { memory: 'memory-core' }, entries: { clawmem: { note: 'mine', }, },
    load: { paths: ['/opt/other',], },
  },
}
"""
TOML = """# my settings
model = "gpt-mock"   # the cheap one

[mcp_servers.weather]
command = "weather"

[projects."/home/priya"]
trust_level = "trusted"
"""
YAML_TEXT = """# Hermes
model:
  default: mock   # offline
memory:
    provider: mem0
    limit: 3

display: {color: true}
"""
# The files of each client with the text that they have before: JSON, with comments where the client reads them.
FILES = {
    "claude-code": {".claude/settings.json": '{"model": "opus"}', ".claude.json": '{\n\t"numStartups": 3\n}\n'},
    "codex": {".codex/config.toml": TOML, ".codex/hooks.json": '{"hooks": {"Stop": []}}\n'},
    "gemini": {".gemini/settings.json": COMMENTED},
    "opencode": {".config/opencode/opencode.jsonc": COMMENTED},
    "openclaw": {".openclaw/openclaw.json": JSON5},
    "hermes": {".hermes/config.yaml": YAML_TEXT, ".hermes/clawmem.json": '{"note": "mine"}'},
    "vscode": {".config/Code/User/mcp.json": '{ "servers": {}, "inputs": [ ] }'},
    "cursor": {".cursor/mcp.json": '{"mcpServers": {"weather": {"command": "weather"}}}\n'},
    "zed": {".config/zed/settings.json": COMMENTED.replace("\n", "\r\n")},
    "windsurf": {".codeium/windsurf/mcp_config.json": ""},
}  # fmt: skip


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


def names_in(file: Path) -> list[str]:
    """Return the names of the hooks of clawmem in the settings *file*."""
    return [name for name, _ in installed(json.loads(file.read_text("utf-8"))["hooks"])]
