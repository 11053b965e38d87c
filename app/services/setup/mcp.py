"""Installation of the MCP server in clients: the settings of a supported client are edited, others are printed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from clawmem.app.services.setup.client_settings import ClientSettings
from clawmem.ports.errors import ConfigError

SERVERS = "mcpServers"
OURS = "clawmem"  # prefix of the names of our servers

_PLACES = frozenset({"XDG_CACHE_HOME", "XDG_CONFIG_HOME"})
_NOT_PASSED_ON = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|^CLAWMEM_SESSION_")

Entry = Mapping[str, Any]


class Client(NamedTuple):
    """
    A program that starts MCP servers: its settings file, and the format of an entry.

    A client that ``starts_clean`` does not pass its environment variables on, and does not wait for a server unless the
    entry is marked as required.
    """

    title: str
    file: str
    written: Callable[[str, Entry], str]
    starts_clean: bool = False


@dataclass(frozen=True, slots=True)
class McpChange:
    """
    The change to a settings file, made or planned.

    ``servers`` are the names of clawmem servers after the change; ``shown`` is their part of the file. The rest of the
    file, which may contain keys of other services, is not repeated. ``backup`` is the path of the copy of the original
    file, if one was made now.
    """

    file: str
    servers: tuple[str, ...]
    changed: bool
    shown: str
    backup: str = ""


class SetUpMcp:
    """
    Edits the clawmem servers in the settings file of Claude Code, and nothing else.

    Repeating a call changes nothing. With *dry_run* nothing is written.
    """

    def __init__(self, file: Path, *, dry_run: bool = False) -> None:
        self._settings = ClientSettings(file.parent, file.name)
        self._dry_run = dry_run

    def install(self, name: str, entry: Entry) -> McpChange:
        """
        Install a server as *name*, replacing a clawmem server of that name.

        Raises:
            ConfigError: a server of another program has that name, or the file cannot be read or written.
        """
        servers = self._settings.member(SERVERS)
        if name in servers and not is_ours(servers[name]):
            raise ConfigError(
                f"{self._settings.file}: another server is called {name!r}. Give it another name, then try again."
            )
        return self._write({**servers, name: dict(entry)})

    def remove(self) -> McpChange:
        """Remove all clawmem servers. Raises `ConfigError` when the file cannot be read or written."""
        return self._write(_without_ours(self._settings.member(SERVERS)))

    def _write(self, servers: dict[str, Any]) -> McpChange:
        text = self._settings.with_other(SERVERS, servers)
        changed = text != self._settings.text
        backup = self._settings.write(text) if changed and not self._dry_run else ""
        ours = {name: one for name, one in servers.items() if name not in _without_ours(servers)}
        return McpChange(str(self._settings.file), tuple(ours), changed, _dumped({SERVERS: ours}), backup)


def entry_of(command: Sequence[str]) -> Entry:
    """Return the entry of a server that a client starts with *command*."""
    return {"command": command[0], "args": list(command[1:])}


def with_environment(entry: Entry, environ: Mapping[str, str], vault: Path) -> Entry:
    """
    Complete *entry* for a client that starts servers in a clean environment.

    The entry contains the vault and the variables of *environ* that clawmem reads, except credentials and those of one
    session. Credentials belong in the ``.env`` file of the config folder, which the server reads.
    """
    ours = {name: value for name, value in environ.items() if _is_passed_on(name)}
    return {**entry, "env": {**ours, "INDEX_PATH": str(vault)}, "required": True}


def _is_passed_on(name: str) -> bool:
    return name in _PLACES or (name.startswith("CLAWMEM_") and not _NOT_PASSED_ON.search(name))


def as_json(name: str, entry: Entry) -> str:
    """Return the entry in the JSON format that most clients read."""
    return _dumped({SERVERS: {name: dict(entry)}})


def as_toml(name: str, entry: Entry) -> str:
    """Return the entry in the TOML format of Codex. Strings, lists and booleans of JSON are valid TOML."""
    parts = [f"{key} = {_toml_value(value)}" for key, value in entry.items()]
    return "\n".join([f"[mcp_servers.{name}]", *parts])


def _toml_value(value: Any) -> str:
    if isinstance(value, Mapping):
        members = (f"{json.dumps(key)} = {_toml_value(one)}" for key, one in sorted(value.items()))
        return f"{{ {', '.join(members)} }}"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


CLIENTS: Mapping[str, Client] = {
    "claude-code": Client("Claude Code", "~/.claude.json", as_json),
    "codex": Client("Codex", "~/.codex/config.toml", as_toml, starts_clean=True),
    "gemini": Client("Gemini CLI", "~/.gemini/settings.json", as_json),
    "cursor": Client("Cursor", "~/.cursor/mcp.json", as_json),
    "json": Client("Any other client", "its own settings", as_json),
}
EDITED = "claude-code"  # the client whose settings file is edited


def _without_ours(servers: Mapping[str, Any]) -> dict[str, Any]:
    return {name: one for name, one in servers.items() if not (name.startswith(OURS) and is_ours(one))}


def is_ours(server: Any) -> bool:
    """Whether an entry starts clawmem, from any path."""
    if not isinstance(server, dict):
        return False
    args = server.get("args")
    words = [str(server.get("command", "")), *(map(str, args) if isinstance(args, list) else ())]
    return "mcp" in words and any(Path(word).name == OURS for word in words)


def offer_of(server: Entry) -> tuple[str, ...]:
    """Return the options that select the tools and the vault of a clawmem server."""
    args = [str(one) for one in server.get("args", ())]
    return tuple(args[args.index("mcp") + 1 :]) if "mcp" in args else ()


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
