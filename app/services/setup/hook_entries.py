"""Hook entries in a client's settings: their format, and how to find, add and remove those of clawmem."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

Hooks = Mapping[str, Any]
"""Maps an event name to a list of groups, each a matcher with a list of handlers."""

_OURS = re.compile(r"(?:^|[\s/\\\"'])clawmem(?:\.exe)?[\"']?\s+hook\s+([a-z-]+)")
# Earlier versions installed HTTP hooks, each of which prints an error at every turn while no server runs.
_SERVED = re.compile(r"https?://[^/]+/hooks/([a-z-]+)")

_TOKEN_VARIABLE = "CLAWMEM_API_TOKEN"


class Entry(NamedTuple):
    """
    One hook to install.

    ``command`` is the program with its arguments, run without a shell; ``timeout_s`` the time that the client waits.
    """

    event: str
    matcher: str
    command: tuple[str, ...]
    timeout_s: int

    def group(self) -> dict[str, Any]:
        """Return the entry in the format of a client's settings."""
        program, *arguments = self.command
        handler = {"type": "command", "command": program, "args": arguments, "timeout": self.timeout_s}
        return {"matcher": self.matcher, "hooks": [handler]}


def name_of(handler: Any) -> str | None:
    """Return the name of the clawmem hook that a handler runs, in any supported format; ``None`` for other handlers."""
    if not isinstance(handler, Mapping):
        return None
    if handler.get("type") == "http" and _TOKEN_VARIABLE in str(handler.get("headers")):
        asked = _SERVED.fullmatch(str(handler.get("url")))
        return asked[1] if asked else None
    arguments = handler.get("args")
    words = [handler.get("command"), *(arguments if isinstance(arguments, list) else [])]
    found = _OURS.search(" ".join(map(str, words)))
    return found[1] if found else None


def installed(hooks: Hooks) -> list[tuple[str, str]]:
    """Return the clawmem hooks in *hooks* in order: the name of each, and its program or address."""
    handlers = [
        handler
        for groups in hooks.values()
        for group in (groups if isinstance(groups, list) else [])
        for handler in _handlers(group)
    ]
    named = ((name_of(handler), handler) for handler in handlers)
    return [(name, str(handler.get("command") or handler.get("url"))) for name, handler in named if name]


def is_over_http(target: str) -> bool:
    """Whether a *target* from `installed` is a URL instead of a command."""
    return _SERVED.fullmatch(target) is not None


def with_entries(hooks: Hooks, entries: Sequence[Entry]) -> dict[str, Any]:
    """Return *hooks* with *entries* replacing all clawmem hooks; hooks of other programs are unchanged."""
    merged = without_entries(hooks)
    for entry in entries:
        merged[entry.event] = [*merged.get(entry.event, []), entry.group()]
    return merged


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
    others = [handler for handler in handlers if name_of(handler) is None]
    if len(others) == len(handlers):
        return group
    return {**group, "hooks": others} if others else None


def _handlers(group: Any) -> list[Any]:
    handlers = group.get("hooks") if isinstance(group, Mapping) else None
    return handlers if isinstance(handlers, list) else []
