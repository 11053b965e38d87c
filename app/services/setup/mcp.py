"""Entries of MCP servers in the settings of clients."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

SERVERS = "mcpServers"
OURS = "clawmem"  # prefix of the names of our servers

_PLACES = frozenset({"XDG_CACHE_HOME", "XDG_CONFIG_HOME"})
_NOT_PASSED_ON = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|^CLAWMEM_SESSION_")

Entry = Mapping[str, Any]


def entry_of(command: Sequence[str]) -> Entry:
    """Return the entry of a server that a client starts with *command*."""
    return {"command": command[0], "args": list(command[1:])}


def with_environment(entry: Entry, environ: Mapping[str, str], vault: Path) -> Entry:
    """
    Complete *entry* for a client that starts servers in a clean environment.

    The entry contains the vault and the variables of *environ* that clawmem reads, except credentials and those of one
    session. Credentials belong in the ``.env`` file of the config folder, which the server reads. The client waits for a
    server only if its entry is marked as required.
    """
    ours = {name: value for name, value in environ.items() if _is_passed_on(name)}
    return {**entry, "env": {**ours, "INDEX_PATH": str(vault)}, "required": True}


def _is_passed_on(name: str) -> bool:
    return name in _PLACES or (name.startswith("CLAWMEM_") and not _NOT_PASSED_ON.search(name))


def as_list(entry: Entry) -> Entry:
    """Return *entry* in the format of OpenCode."""
    command = [entry["command"], *entry["args"]]
    environment = {"environment": entry["env"]} if "env" in entry else {}
    return {"type": "local", "command": command, **environment, "enabled": True}


def is_ours(server: Any) -> bool:
    """Whether an entry starts clawmem, from any path."""
    if not isinstance(server, dict):
        return False
    words = command_of(server)
    return "mcp" in words and any(Path(word).name == OURS for word in words)


def own_servers(servers: Mapping[str, Any]) -> dict[str, Any]:
    """Return the servers of clawmem by name."""
    return {name: one for name, one in servers.items() if name.startswith(OURS) and is_ours(one)}


def command_of(server: Entry) -> list[str]:
    """Return the command of an entry of any client, as words."""
    command, args = server.get("command", ""), server.get("args")
    first = command if isinstance(command, list) else [command]
    return [*map(str, first), *(map(str, args) if isinstance(args, list) else ())]


def offer_of(server: Entry) -> tuple[str, ...]:
    """Return the options that select the tools and the vault of a clawmem server."""
    args = [str(one) for one in server.get("args", ())]
    return tuple(args[args.index("mcp") + 1 :]) if "mcp" in args else ()
