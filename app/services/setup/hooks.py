"""Hooks in the settings of clients: their entries, and how entries of clawmem are recognised."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from clawmem.app.client.hook_registry import ALIASES, EVENTS, OPTIONAL_HOOKS, HookCall, call_named

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
    return {name: server for name, server in servers.items() if name.startswith(OURS) and is_ours(server)}


def command_of(server: Entry) -> list[str]:
    """Return the command of an entry of any client, as words."""
    command, args = server.get("command", ""), server.get("args")
    first = command if isinstance(command, list) else [command]
    return [*map(str, first), *(map(str, args) if isinstance(args, list) else ())]


def offer_of(server: Entry) -> tuple[str, ...]:
    """Return the options that select the tools and the vault of a clawmem server."""
    args = [str(value) for value in server.get("args", ())]
    return tuple(args[args.index("mcp") + 1 :]) if "mcp" in args else ()


HOOKS, PLUGINS = "hooks", "enabledPlugins"
OUR_PLUGIN = "clawmem"

Group = Mapping[str, Any]
"""A matcher with a list of handlers."""
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
PROFILE, VAULT, WITH, ENV = "--profile", "--vault", "--with", "--env"  # options of an entry


class Style(NamedTuple):
    """
    Format of the entries of a client.

    ``events`` maps our events to those of the client; others are left out. ``in_shell`` says that the client passes the
    command to a shell; ``milliseconds`` is the unit of time-outs, ``with_matcher`` whether an event may name values.
    """

    events: Mapping[str, str]
    in_shell: bool = True
    milliseconds: bool = False
    with_matcher: bool = True

    def group(self, call: HookCall, command: Sequence[str]) -> Group:
        """Return the entry of *command*."""
        program, *arguments = command
        run = {"command": shlex.join(command)} if self.in_shell else {"command": program, "args": arguments}
        timeout = call.patience_s * (1000 if self.milliseconds else 1)
        handler = {"type": "command", **run, "timeout": timeout}
        return {**({"matcher": call.matcher} if self.with_matcher else {}), "hooks": [handler]}


_SAME = {event: event for event in EVENTS}
CLAUDE_STYLE = Style(_SAME, in_shell=False)
CODEX_STYLE = Style(_SAME)
GEMINI_STYLE = Style(
    {event: name for name, event in ALIASES.items()} | {"SessionStart": "SessionStart"},
    milliseconds=True, with_matcher=False,
)  # fmt: skip


def hook_groups(
    style: Style,
    start: Sequence[str],
    options: Mapping[str, str | None],
    optional: str = "",
    places: Sequence[str] = (),
) -> dict[str, Group]:
    """
    Return one entry for each event of a client.

    Args:
        start: The start of a command of clawmem.
        options: Options of every entry; the profile is left out where it has no effect.
        optional: Optional hooks, with commas.
        places: Variables that the client may not pass on, as ``NAME=VALUE``.
    """
    variables = [word for place in places for word in (ENV, place)]
    groups: dict[str, Group] = {}
    for event, name in style.events.items():
        call = call_named(event, optional)
        if call is None or not call.hooks:
            continue
        added = [hook for hook in call.hooks if hook in OPTIONAL_HOOKS]
        given = {**options, WITH: ",".join(added)}
        if "context-surfacing" not in call.hooks:
            given.pop(PROFILE, None)
        words = (word for option, value in given.items() if value for word in (option, value))
        groups[name] = style.group(call, (*start, "hook", name, *words, *variables))
    return groups


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


def fault_of_set(names: Sequence[str], events: Iterable[str], elsewhere: Iterable[str] = ()) -> str:
    """
    Return which of the hooks that setup installs at *events* are missing or doubled; empty if the set is complete.

    Args:
        names: The installed hooks, see `installed`. Without any, nothing is missing.
        elsewhere: Hooks of other settings, which are not missing either.
    """
    present = {*names, *elsewhere}
    wanted = [name for event in events if (call := call_named(event)) for name in call.hooks]
    twice = sorted({name for name in names if names.count(name) > 1})
    missing = [name for name in wanted if name not in present] if names else []
    faults = [f"has {', '.join(twice)} more than once"] if twice else []
    return " and ".join([*faults, f"lacks {', '.join(missing)}"] if missing else faults)


def installed_options(hooks: Hooks) -> dict[str, str]:
    """Return the options of the installed entries: profile, vault, and the names of optional hooks."""
    found: dict[str, str] = {}
    for handler in _every_handler(hooks):
        found |= _named(handler)[1]
    optional = [name for name, _ in installed(hooks) if name in OPTIONAL_HOOKS]
    return {**found, WITH: ",".join(dict.fromkeys(optional))}


def names_in(text: str) -> tuple[str, ...]:
    """Return the names of the clawmem hooks in the JSON settings *text*."""
    return tuple(name for name, _ in installed(json.loads(text or "{}").get(HOOKS, {})))


def is_over_http(target: str) -> bool:
    """Whether a *target* from `installed` is a URL instead of a command."""
    return _SERVED.fullmatch(target) is not None


def own_handlers(hooks: Hooks) -> Iterator[tuple[str | int, ...]]:
    """Yield the path of each handler of clawmem in a document with *hooks*."""
    for event, groups in hooks.items():
        for at, group in enumerate(groups if isinstance(groups, list) else []):
            for number, handler in enumerate(_handlers(group)):
                if call_of(handler):
                    yield (HOOKS, event, at, "hooks", number)


def group_faults(hooks: Any) -> Iterator[tuple[str, str]]:
    """Yield the path of each member of *hooks* with a shape that no client reads, and the expected shape."""
    if not isinstance(hooks, Mapping):
        yield HOOKS, "an object"
        return
    for event, groups in hooks.items():
        if not isinstance(groups, list):
            yield f"{HOOKS}.{event}", "a list"
            continue
        for number, group in enumerate(groups):
            place = f"{HOOKS}.{event}[{number}]"
            if not isinstance(group, dict):
                yield place, "an object"
            elif not isinstance(group.get("hooks", []), list):
                yield f"{place}.hooks", "a list"


def has_plugin(settings: Mapping[str, Any]) -> bool:
    """Whether the clawmem plugin of Claude Code is enabled, which includes the hooks."""
    plugins = settings.get(PLUGINS)
    switched_on = [name for name, on in plugins.items() if on] if isinstance(plugins, dict) else []
    return any(name.split("@")[0] == OUR_PLUGIN for name in switched_on)


def shown_group(group: Group) -> str:
    """Return the command of *group*."""
    [handler] = group["hooks"]
    return " ".join([handler["command"], *handler.get("args", ())])


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


def vault_in(command: str | Sequence[str]) -> str:
    """Return the vault that the *command* of a hook names; empty if it names none."""
    return _options(command if isinstance(command, str) else shlex.join(command)).get(VAULT, "")


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
