"""Entries of clawmem in the settings of an agent: hooks, servers, single values and elements of lists."""

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from clawmem.adapters.clients.formats import Values
from clawmem.ports.clients import ConfiguredCommand, HookEntry

PROMPT = "UserPromptSubmit"


class HookStyle(NamedTuple):
    """
    Format of an agent's hooks.

    ``events`` maps events of Claude Code to those of the agent; others are left out. ``in_shell`` says that the agent
    passes the command to a shell; ``milliseconds`` is the unit of time-outs, and ``has_matcher`` whether an event may
    name values.
    """

    events: Mapping[str, str]
    in_shell: bool = True
    milliseconds: bool = False
    has_matcher: bool = True


@dataclass(frozen=True)
class Hooks:
    """
    Hooks by event: lists of groups, each a matcher with a list of handlers.

    As with each `Entry`, ``install`` replaces older entries, ``remove`` gets the values before the first installation,
    and ``commands`` are those that the agent starts because of the entries. All raise `ValueError` if the values have
    another shape.
    """

    style: HookStyle
    program: Sequence[str]
    hooks: Sequence[HookEntry]

    def install(self, settings: Values) -> None:
        self.remove(settings, {})
        for hook in (hook for hook in self.hooks if hook.event in self.style.events):
            event = self.style.events[hook.event]
            command = [*self.program, "hook", event, *hook.options]
            run: Values = {"command": command[0], "args": command[1:]}
            if self.style.in_shell:
                run = {"command": shlex.join(command)}
            timeout = hook.patience_s * (1000 if self.style.milliseconds else 1)
            matcher = {"matcher": hook.matcher} if self.style.has_matcher else {}
            group = {**matcher, "hooks": [{"type": "command", **run, "timeout": timeout}]}
            _member(_member(settings, "hooks", dict, "hooks"), event, list, f"hooks.{event}").insert(0, group)

    def remove(self, settings: Values, original: Values) -> None:
        """Remove the hooks, and groups and events that become empty."""
        for event, groups in [*_hooks(settings).items()]:
            remaining = []
            for group in groups:
                handlers = [handler for handler in group.get("hooks", []) if not hook_event(handler)]
                if handlers or not group.get("hooks"):
                    remaining.append(group | {"hooks": handlers} if handlers else group)
            settings["hooks"][event] = remaining
            if groups and not remaining:
                _drop(settings, ("hooks", event))

    def commands(self, settings: Values) -> Iterator[ConfiguredCommand]:
        for groups in _hooks(settings).values():
            for handler in (handler for group in groups for handler in group.get("hooks", [])):
                if event := hook_event(handler):
                    is_split = isinstance(handler.get("args"), list)
                    command = server_command(handler) if is_split else handler["command"]
                    yield ConfiguredCommand(command, event=event)


def _hooks(settings: Values) -> dict[str, list[Values]]:
    """Return the groups by event; raise `ValueError` if they have a shape that no agent reads."""
    events: dict[str, list[Values]] = _shaped(settings.get("hooks", {}), dict, "hooks")
    for event, groups in events.items():
        for group in _shaped(groups, list, f"hooks.{event}"):
            _shaped(_shaped(group, dict, f"hooks.{event}[]").get("hooks", []), list, f"hooks.{event}[].hooks")
    return events


def hook_event(handler: Any) -> str:
    """Return the event whose hooks of clawmem a handler runs, if it runs nothing else; empty for other handlers."""
    if not isinstance(handler, dict) or not isinstance(handler.get("command"), str):
        return ""
    try:
        is_split = isinstance(handler.get("args"), list)
        words = server_command(handler) if is_split else _program_words(handler["command"])
        at = next(at for at, word in enumerate(words) if Path(word).stem == "clawmem")
        return words[words.index("hook", at) + 1]
    except (ValueError, IndexError, StopIteration):  # an open quote, or another program
        return ""


def _program_words(line: str) -> list[str]:
    """Return the words of the program that a *line* for a shell starts; raise `ValueError` if it does more."""
    lexer = shlex.shlex(line.strip(), posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    words = [*lexer]
    if "\n" in line.strip() or any(word and not word.strip("();<>|&") for word in words):
        raise ValueError("a line with an operator belongs to a person")
    return words


@dataclass(frozen=True)
class Server:
    """
    MCP server *name* in the object *member*.

    It replaces a server of a program ``clawmem`` that a person entered, which a removal sets back.
    """

    member: str
    name: str
    entry: Values
    starts_clean: bool = False

    def install(self, settings: Values) -> None:
        servers = _member(settings, self.member, dict, self.member)
        if self.name in servers and not _starts_server(servers[self.name]):
            raise ValueError(f"another server is called {self.name!r}. Give it another name")
        own = ("command", "args", "env", "environment")  # what else a person added stays, such as a time-out
        added = {name: value for name, value in servers.get(self.name, {}).items() if name not in own}
        servers[self.name] = {**added, **self.entry}

    def remove(self, settings: Values, original: Values) -> None:
        for name, server in [*self._own(settings).items()]:
            if former := value_at(original, (self.member, name)):
                settings[self.member][name] = former
            elif server_command(server)[1:4] == ["-P", "-m", "clawmem"]:  # as setup writes it
                _drop(settings, (self.member, name))

    def commands(self, settings: Values) -> Iterator[ConfiguredCommand]:
        for server in self._own(settings).values():
            environ = server.get("env") or server.get("environment") or {}
            yield ConfiguredCommand(server_command(server), environ, starts_clean=self.starts_clean)

    def _own(self, settings: Values) -> Values:
        servers = _shaped(settings.get(self.member, {}), dict, self.member)
        return {name: server for name, server in servers.items() if _starts_server(server)}


def server_command(server: Values) -> list[str]:
    """Return the command of an MCP server, or of a hook without a shell, as words."""
    command, arguments = server.get("command", ""), server.get("args")
    first = command if isinstance(command, list) else [command]
    return [*map(str, first), *(map(str, arguments) if isinstance(arguments, list) else ())]


def _starts_server(server: Any) -> bool:
    words = server_command(server) if isinstance(server, dict) else []
    at = next((at for at, word in enumerate(words) if Path(word).stem == "clawmem"), len(words))
    return "mcp" in words[at:]  # and not as in "mcp run clawmem.py"


@dataclass(frozen=True)
class Setting:
    """
    A value at *path*; ``None`` is not installed, but removed.

    Removal sets the original value back. A setting that is *shared* with other programs is removed only if it has the
    value. *runs* says that the value is the program of a plugin, which stands next to its ``vault``.
    """

    path: Sequence[str]
    value: Any
    shared: bool = False
    runs: bool = False

    def install(self, settings: Values) -> None:
        if self.value is not None:
            self._parent(settings)[self.path[-1]] = self.value

    def remove(self, settings: Values, original: Values) -> None:
        now, before = value_at(settings, self.path), value_at(original, self.path)
        if now is None or (self.shared and now != self.value):
            return
        if before is None:
            _drop(settings, self.path)
        else:
            self._parent(settings)[self.path[-1]] = before

    def commands(self, settings: Values) -> Iterator[ConfiguredCommand]:
        if self.runs and (program := value_at(settings, self.path)):
            vault = value_at(settings, (*self.path[:-1], "vault"))
            environ = {"INDEX_PATH": vault} if vault else {}
            yield ConfiguredCommand([str(program), "hook", PROMPT], environ, PROMPT)

    def fault(self, settings: Values) -> str:
        """Return how *settings* differ from an installation; empty if they do not, or may."""
        now = value_at(settings, self.path)
        is_there = self.value is None or self.runs or self.value in (now if isinstance(now, list) else [now])
        return "" if is_there else f"{'.'.join(self.path)} is {json.dumps(now)}"

    def _parent(self, settings: Values) -> Values:
        for at, key in enumerate(self.path[:-1], 1):
            settings = _member(settings, key, dict, ".".join(self.path[:at]))
        return settings


@dataclass(frozen=True)
class Element(Setting):
    """An element of the list at *path*; it replaces elements with the same *end*, such as the folder of another version."""

    end: str = ""

    def install(self, settings: Values) -> None:
        self.remove(settings, {})
        Setting(self.path, [self.value, *(value_at(settings, self.path) or [])]).install(settings)

    def remove(self, settings: Values, original: Values) -> None:
        elements = _shaped(value_at(settings, self.path) or [], list, ".".join(self.path))
        remaining = [element for element in elements if not str(element).rstrip("/").endswith(self.end)]
        if elements and not remaining:
            _drop(settings, self.path)
        elif elements:
            Setting(self.path, remaining).install(settings)


Entry = Hooks | Server | Setting


def _shaped(value: Any, kind: type, place: str) -> Any:
    """Return *value*; raise `ValueError` if it is not of *kind*, a list or an object."""
    if not isinstance(value, kind):
        expected = "a list" if kind is list else "an object"
        raise ValueError(f"{place} must be {expected}")  # noqa: TRY004  the file is wrong
    return value


def _member(box: Values, key: str, kind: type, place: str) -> Any:
    """Return the member *key* of *box*, which is created if it does not exist."""
    if box.get(key) is None:
        box[key] = kind()
    return _shaped(box[key], kind, place)


def value_at(settings: Any, path: Sequence[str]) -> Any:
    """Return the value at *path* in *settings*; ``None`` if there is none."""
    for key in path:
        settings = settings.get(key) if isinstance(settings, dict) else None
    return settings


def _drop(settings: Values, path: Sequence[str]) -> None:
    """Remove the member at *path*, and parents that are empty then."""
    for end in range(len(path), 0, -1):
        parent = value_at(settings, path[: end - 1])
        if end == len(path) or parent[path[end - 1]] == {}:
            parent.pop(path[end - 1], None)
