"""The server of the Model Context Protocol, put into a client: written where we know how, else shown."""

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
OURS = "clawmem"  # how the names of our servers begin

_PLACES = frozenset({"XDG_CACHE_HOME", "XDG_CONFIG_HOME"})
_NOT_PASSED_ON = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|^CLAWMEM_SESSION_")

Entry = Mapping[str, Any]


class Client(NamedTuple):
    """
    A program that starts MCP servers: its settings file, and the format of an entry.

    A client that ``starts_clean`` hands no variables of its own environment on, and does not wait for a server
    unless the entry is marked as required.
    """

    title: str
    file: str
    written: Callable[[str, Entry], str]
    starts_clean: bool = False


@dataclass(frozen=True, slots=True)
class McpChange:
    """
    What set-up did to a settings file, or would do.

    ``servers`` are the names of ours that stand in it afterwards; ``shown`` is what it says of them. The rest of the
    file is the client's, keys of other services among it, and not repeated. ``backup`` is the path of the copy that
    was made of the file as it was before, if one was made now.
    """

    file: str
    servers: tuple[str, ...]
    changed: bool
    shown: str
    backup: str = ""


class SetUpMcp:
    """
    Edits the file in which Claude Code keeps its servers, and nothing in it that is not ours.

    Repeating it changes nothing. With *dry_run* nothing is written.
    """

    def __init__(self, file: Path, *, dry_run: bool = False) -> None:
        self._settings = ClientSettings(file.parent, file.name)
        self._dry_run = dry_run

    def install(self, name: str, entry: Entry) -> McpChange:
        """
        Put a server in under *name*, in the place of ours.

        Raises:
            ConfigError: somebody else's has that name, or the file cannot be read or written.
        """
        servers = self._settings.member(SERVERS)
        if name in servers and not is_ours(servers[name]):
            raise ConfigError(
                f"{self._settings.file}: another server is called {name!r}. Give it another name, then try again."
            )
        return self._write({**servers, name: dict(entry)})

    def remove(self) -> McpChange:
        """Take out what is ours. Raises `ConfigError` when the file cannot be read or written."""
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

    The entry names the vault and the variables of *environ* that clawmem reads, except credentials
    and those of one session. Credentials belong into the ``.env`` file of the config folder, which the server reads.
    """
    ours = {name: value for name, value in environ.items() if _is_passed_on(name)}
    return {**entry, "env": {**ours, "INDEX_PATH": str(vault)}, "required": True}


def _is_passed_on(name: str) -> bool:
    return name in _PLACES or (name.startswith("CLAWMEM_") and not _NOT_PASSED_ON.search(name))


def as_json(name: str, entry: Entry) -> str:
    """What most clients read."""
    return _dumped({SERVERS: {name: dict(entry)}})


def as_toml(name: str, entry: Entry) -> str:
    """Return the entry as Codex reads it. Strings, lists and truth values of JSON are valid TOML."""
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
EDITED = "claude-code"  # the one whose file is changed for the user


def _without_ours(servers: Mapping[str, Any]) -> dict[str, Any]:
    return {name: one for name, one in servers.items() if not (name.startswith(OURS) and is_ours(one))}


def is_ours(server: Any) -> bool:
    """Whether an entry starts clawmem, by whichever path."""
    if not isinstance(server, dict):
        return False
    args = server.get("args")
    words = [str(server.get("command", "")), *(map(str, args) if isinstance(args, list) else ())]
    return "mcp" in words and any(Path(word).name == OURS for word in words)


def offer_of(server: Entry) -> tuple[str, ...]:
    """What one of ours is started for: the options that say which tools and which vault."""
    args = [str(one) for one in server.get("args", ())]
    return tuple(args[args.index("mcp") + 1 :]) if "mcp" in args else ()


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
