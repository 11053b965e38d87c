"""Parts of a client's configuration that setup adds and removes: hooks, servers, single values, files and links."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from clawmem.app.services.setup.hooks import (
    HOOKS,
    Group,
    command_of,
    fault_of_set,
    group_faults,
    has_plugin,
    installed,
    installed_options,
    is_ours,
    own_handlers,
    own_servers,
    shown_group,
)
from clawmem.app.services.setup.settings_file import Document, KeyPath
from clawmem.ports.errors import ConfigError

CLIENT_TITLES = {
    "claude-code": "Claude Code",
    "codex": "Codex",
    "gemini": "Gemini CLI",
    "opencode": "OpenCode",
    "openclaw": "OpenClaw",
    "hermes": "Hermes",
    "vscode": "VS Code",
    "cursor": "Cursor",
    "zed": "Zed",
    "windsurf": "Windsurf",
}


class ConfiguredCommand(NamedTuple):
    """
    A command that a client starts: a line for a shell, or words; or the fault of the entries.

    ``is_server`` says that it speaks MCP.
    """

    command: str | Sequence[str]
    environ: Mapping[str, str] = {}
    is_server: bool = False
    fault: str = ""


PROMPT = ("UserPromptSubmit", "BeforeAgent")  # events of a prompt


class Part(Protocol):
    """Entries of clawmem in one document. Methods raise `ConfigError` or `ValueError` if its shape does not fit."""

    def install(self, document: Document) -> None:
        """Add the entries, replacing older ones."""

    def remove(self, document: Document, original: Document | None) -> None:
        """Remove the entries; *original* is the document before the first change."""

    def is_in(self, document: Document) -> bool:
        """Whether *document* contains entries of clawmem."""

    def shown(self, before: Document) -> Iterator[str]:
        """Yield a line for each entry, with the value of another program that it replaces in *before*."""

    def commands(self, document: Document) -> Iterator[ConfiguredCommand]:
        """Yield the commands that the client starts because of the entries in *document*."""


@dataclass(frozen=True)
class HookGroups:
    """
    Hooks, by event.

    Args:
        groups: Returns the groups by event, from the options of the installed entries.
    """

    groups: Callable[[Mapping[str, str]], Mapping[str, Group]]

    def install(self, document: Document) -> None:
        """See `Part`. Raises `ConfigError` if the plugin of Claude Code already includes the hooks."""
        if has_plugin(document.value):
            raise ConfigError(
                "The clawmem plugin is switched on and brings the same hooks; every prompt would get them "
                "twice. Switch it off (/plugin in Claude Code), or leave the settings alone."
            )
        wanted = self.groups(installed_options(_hooks(document)))
        hooks = _hooks(document)
        is_same = len([*own_handlers(hooks)]) == len(wanted)
        if is_same and all(group in hooks.get(event, []) for event, group in wanted.items()):
            return
        self.remove(document, None)
        for event, group in wanted.items():
            document.add((HOOKS, event), group)

    def remove(self, document: Document, original: Document | None) -> None:
        """See `Part`: groups and events that become empty are removed."""
        for place in reversed([*own_handlers(_hooks(document))]):
            document.drop(place)
            group = place[:-2]
            if document.get(*group, "hooks") is None and document.get(*group) is not None:
                document.drop(group, original)

    def is_in(self, document: Document) -> bool:
        return any(True for _ in own_handlers(_hooks(document)))

    def shown(self, before: Document) -> Iterator[str]:
        for event, group in self.groups({}).items():
            yield f"{HOOKS}.{event}: {shown_group(group)}"

    def commands(self, document: Document) -> Iterator[ConfiguredCommand]:
        """See `Part`: the command of prompts, and the fault of an incomplete set."""
        names = [name for name, _ in installed(_hooks(document))]
        if not has_plugin(document.value) and (fault := fault_of_set(names, self.groups({}))):
            yield ConfiguredCommand("", fault=f"the set of hooks {fault}")
        for place in own_handlers(_hooks(document)):
            if place[1] in PROMPT:
                handler = document.get(*place)
                command, args = str(handler.get("command")), handler.get("args")
                yield ConfiguredCommand([command, *args] if isinstance(args, list) else command)


def _hooks(document: Document) -> dict[str, Any]:
    hooks = document.value.get(HOOKS, {})
    for key, expected in group_faults(hooks):
        raise ValueError(f"{key} must be {expected}")
    return hooks  # type: ignore[no-any-return]


@dataclass(frozen=True)
class ServerEntry:
    """MCP server *name* in the object *member*."""

    member: str
    name: str
    entry: Mapping[str, Any]

    def install(self, document: Document) -> None:
        """See `Part`. Raises `ConfigError` if a server of another program has the name."""
        other = self._servers(document).get(self.name)
        if other is not None and not is_ours(other):
            raise ValueError(f"another server is called {self.name!r}. Give it another name")
        document.put((self.member, self.name), dict(self.entry))

    def remove(self, document: Document, original: Document | None) -> None:
        for name in self.ours(document):
            document.drop((self.member, name), original)

    def is_in(self, document: Document) -> bool:
        return bool(self.ours(document))

    def ours(self, document: Document) -> dict[str, Any]:
        """Return the servers of clawmem in *document*."""
        return own_servers(self._servers(document))

    def shown(self, before: Document) -> Iterator[str]:
        yield f"{self.member}.{self.name}: {' '.join(command_of(self.entry))}"

    def commands(self, document: Document) -> Iterator[ConfiguredCommand]:
        for entry in self.ours(document).values():
            environ = entry.get("env") or entry.get("environment") or {}
            yield ConfiguredCommand(command_of(entry), environ, is_server=True)

    def _servers(self, document: Document) -> dict[str, Any]:
        found = document.value.get(self.member, {})
        if not isinstance(found, dict):
            raise ValueError(f"{self.member!r} is no object")  # noqa: TRY004  the file is wrong
        return found


class _Silent:
    """Part that starts nothing."""

    def commands(self, document: Document) -> Iterator[ConfiguredCommand]:
        yield from ()


@dataclass(frozen=True)
class PluginSettings:
    """
    Settings of a plugin at *path*, to which settings of the user may have been added.

    ``program`` is the name of the setting for the program. Removal sets *entry* back to its original, or removes the
    settings alone if *entry* is empty.
    """

    path: KeyPath
    settings: Mapping[str, str]
    program: str
    entry: KeyPath = ()

    def install(self, document: Document) -> None:
        for name, value in self.settings.items():
            document.put((*self.path, name), value)

    def remove(self, document: Document, original: Document | None) -> None:
        if not self.is_in(document):
            return
        if self.entry:
            document.put_back(self.entry, original)
            return
        for name in self.settings:
            document.drop((*self.path, name), original)

    def is_in(self, document: Document) -> bool:
        return document.get(*self.path, self.program) is not None

    def shown(self, before: Document) -> Iterator[str]:
        for name, value in self.settings.items():
            yield f"{'.'.join(map(str, (*self.path, name)))}: {value}"

    def commands(self, document: Document) -> Iterator[ConfiguredCommand]:
        """See `Part`: a hook, as the plugin runs it."""
        if self.is_in(document):
            vault = document.get(*self.path, "vault")
            command = [str(document.get(*self.path, self.program)), "hook", PROMPT[0]]
            yield ConfiguredCommand(command, {"INDEX_PATH": vault} if vault else {})


@dataclass(frozen=True)
class SingleValue(_Silent):
    """A value that removal sets back to its original."""

    path: KeyPath
    value: Any

    def install(self, document: Document) -> None:
        document.put(self.path, self.value)

    def remove(self, document: Document, original: Document | None) -> None:
        if self.is_in(document):
            document.put_back(self.path, original)

    def is_in(self, document: Document) -> bool:
        found = document.get(*self.path)
        return bool(found == self.value)

    def shown(self, before: Document) -> Iterator[str]:
        now, new = before.get(*self.path), _shown_value(self.value)
        replaced = "" if now is None or now == self.value else f"{_shown_value(now)} → "
        yield f"{'.'.join(map(str, self.path))}: {replaced}{new}"


def _shown_value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True)
class ListElement(_Silent):
    """An element of a list; elements with the same end, such as the folder of another version, are replaced."""

    path: KeyPath
    value: str
    end: str

    def install(self, document: Document) -> None:
        if self._places(document) and document.get(*self._places(document)[0]) == self.value:
            return
        self.remove(document, None)
        document.add(self.path, self.value)

    def remove(self, document: Document, original: Document | None) -> None:
        for place in reversed(self._places(document)):
            document.drop(place, original)

    def is_in(self, document: Document) -> bool:
        return bool(self._places(document))

    def shown(self, before: Document) -> Iterator[str]:
        yield f"{'.'.join(map(str, self.path))}: {self.value}"

    def _places(self, document: Document) -> list[KeyPath]:
        found = document.get(*self.path)
        listed = found if isinstance(found, list) else []
        return [(*self.path, at) for at, value in enumerate(listed) if str(value).endswith(self.end)]
