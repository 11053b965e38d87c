"""Hooks in the settings of clients: their entries, and their installation."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from clawmem.app.client.hook_registry import OPTIONAL_HOOKS, HookCall, call_named
from clawmem.app.services.setup.client_settings import ClientSettings
from clawmem.ports.errors import ConfigError

Hooks = Mapping[str, Any]
"""Maps an event name to a list of groups, each a matcher with a list of handlers."""

# Options may stand before ``hook``, too.
_OURS = re.compile(
    r"(?:^|[\s/\\\"'])clawmem(?:\.exe)?[\"']?((?:\s+--[a-z]+[ =]\S+)*)\s+hook((?:\s+--[a-z]+[ =]\S+)*)\s+([A-Za-z-]+)"
)
_VARIABLES = {"CLAWMEM_PROFILE": "--profile", "INDEX_PATH": "--vault"}  # set in front of the command
# Earlier versions installed HTTP hooks, each of which prints an error at every turn while no server runs.
_SERVED = re.compile(r"https?://[^/]+/hooks/([A-Za-z-]+)")

_TOKEN_VARIABLE = "CLAWMEM_API_TOKEN"
PROFILE, VAULT, WITH = "--profile", "--vault", "--with"  # options of an entry


class Entry(NamedTuple):
    """
    One entry to install.

    ``command`` is the program with its arguments, run without a shell; ``timeout_s`` the time that the client waits.
    """

    event: str
    matcher: str
    command: tuple[str, ...]
    timeout_s: int

    def group(self) -> dict[str, Any]:
        """Return the entry in the format of Claude Code's settings."""
        program, *arguments = self.command
        return self._group({"command": program, "args": arguments})

    def shell_group(self) -> dict[str, Any]:
        """Return the entry in the format of Codex, which runs the command in a shell."""
        return self._group({"command": shlex.join(self.command)})

    def _group(self, command: Mapping[str, Any]) -> dict[str, Any]:
        handler = {"type": "command", **command, "timeout": self.timeout_s}
        return {"matcher": self.matcher, "hooks": [handler]}


def call_of(handler: Any) -> HookCall | None:
    """Return the call of clawmem hooks that a handler makes, in any supported format; ``None`` for other handlers."""
    name, options = _named(handler)
    if not name:
        return None
    return call_named(name, options.get(WITH, "")) or HookCall("", (name,))


def installed(hooks: Hooks) -> list[tuple[str, str]]:
    """Return the clawmem hooks that *hooks* run, in order: the name of each, and its program or address."""
    return [
        (name, str(handler.get("command") or handler.get("url")))
        for handler in _every_handler(hooks)
        if (call := call_of(handler))
        for name in call.hooks
    ]


def installed_options(hooks: Hooks) -> dict[str, str]:
    """Return the options of the installed entries: profile, vault, and the names of optional hooks."""
    found: dict[str, str] = {}
    for handler in _every_handler(hooks):
        found |= _named(handler)[1]
    optional = [name for name, _ in installed(hooks) if name in OPTIONAL_HOOKS]
    return {**found, WITH: ",".join(dict.fromkeys(optional))}


def is_over_http(target: str) -> bool:
    """Whether a *target* from `installed` is a URL instead of a command."""
    return _SERVED.fullmatch(target) is not None


def with_entries(hooks: Hooks, entries: Sequence[Entry]) -> dict[str, Any]:
    """Return *hooks* with *entries* replacing all clawmem hooks; hooks of other programs are unchanged."""
    merged = without_entries(hooks)
    for entry in entries:
        merged[entry.event] = [*merged.get(entry.event, []), entry.group()]
    return merged


def codex_hooks(entries: Sequence[Entry]) -> str:
    """Return the content of a ``hooks.json`` of Codex with *entries*."""
    groups = {entry.event: [entry.shell_group()] for entry in entries}
    return json.dumps({"hooks": groups}, ensure_ascii=False, indent=2)


def without_entries(hooks: Hooks) -> dict[str, Any]:
    """Return *hooks* without those of clawmem; groups and events that become empty are removed."""
    kept: dict[str, Any] = {}
    for event, groups in hooks.items():
        if not isinstance(groups, list):
            kept[event] = groups
            continue
        others = [other for group in groups if (other := _without_ours(group)) is not None]
        if others or not groups:
            kept[event] = others
    return kept


def _without_ours(group: Any) -> Any:
    handlers = _handlers(group)
    others = [handler for handler in handlers if call_of(handler) is None]
    if len(others) == len(handlers):
        return group
    return {**group, "hooks": others} if others else None


def _named(handler: Any) -> tuple[str, dict[str, str]]:
    """Return the name after ``clawmem hook`` and all its options; an empty name for other handlers."""
    if not isinstance(handler, Mapping):
        return "", {}
    if handler.get("type") == "http" and _TOKEN_VARIABLE in str(handler.get("headers")):
        asked = _SERVED.fullmatch(str(handler.get("url")))
        return asked[1] if asked else "", {}
    given = handler.get("args")
    arguments = list(map(str, given)) if isinstance(given, list) else []
    line = " ".join([str(handler.get("command")), *map(shlex.quote, arguments)])
    found = _OURS.search(line)
    return (found[3], _options(line)) if found else ("", {})


def _options(line: str) -> dict[str, str]:
    """Return the options and the known variables of a command line, in any place and form."""
    try:
        words = shlex.split(line.replace("\\", "\\\\"))
    except ValueError:  # an open quote
        words = line.split()
    options: dict[str, str] = {}
    for word, following in zip(words, [*words[1:], ""], strict=True):
        name, equals, value = word.partition("=")
        if equals and (option := _VARIABLES.get(name, name)).startswith("--"):
            options[option] = value
        elif word.startswith("--"):
            options[word] = following
    return options


def _every_handler(hooks: Hooks) -> Iterator[Any]:
    for groups in hooks.values():
        for group in groups if isinstance(groups, list) else []:
            yield from _handlers(group)


def _handlers(group: Any) -> list[Any]:
    handlers = group.get("hooks") if isinstance(group, Mapping) else None
    return handlers if isinstance(handlers, list) else []


@dataclass(frozen=True, slots=True)
class Change:
    """
    The change to a settings file, made or planned.

    ``hooks`` are the names of installed clawmem hooks after the change; ``text`` is the whole file. ``backup`` is the
    path of the copy of the original file, if one was made now.
    """

    file: str
    hooks: tuple[str, ...]
    changed: bool
    text: str
    backup: str = ""


class SetUpHooks:
    """
    Edits the clawmem hooks in the client settings in *folder*, and nothing else.

    Repeating a call changes nothing. With *dry_run* nothing is written.
    """

    def __init__(self, folder: Path, *, dry_run: bool = False) -> None:
        self._settings = ClientSettings(folder)
        self._dry_run = dry_run

    @property
    def options(self) -> dict[str, str]:
        """The options of the installed entries, see `installed_options`."""
        return installed_options(self._settings.hooks)

    def install(self, entries: Sequence[Entry]) -> Change:
        """
        Install *entries*, replacing all clawmem hooks.

        Raises:
            ConfigError: the plugin already includes the hooks, or the file cannot be read or written.
        """
        if self._settings.has_plugin:
            raise ConfigError(
                "The clawmem plugin is switched on and brings the same hooks; every prompt would get them "
                "twice. Switch it off (/plugin in Claude Code), or leave the settings alone."
            )
        return self._write(with_entries(self._settings.hooks, entries))

    def remove(self) -> Change:
        """Remove all clawmem hooks. Raises `ConfigError` when the file cannot be read or written."""
        return self._write(without_entries(self._settings.hooks))

    def _write(self, hooks: dict[str, Any]) -> Change:
        text = self._settings.changed(hooks)
        changed = text != self._settings.text
        backup = self._settings.write(text) if changed and not self._dry_run else ""
        names = tuple(name for name, _ in installed(hooks))
        return Change(str(self._settings.file), names, changed, text, backup)
