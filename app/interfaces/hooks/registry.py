"""Registry of hooks: event, timeout of the client, and whether setup installs the hook by default."""

from __future__ import annotations

from typing import NamedTuple

_OWN_RESERVE_S = 1.0  # subtracted from the client's timeout, for start-up and for answering


class HookRegistration(NamedTuple):
    """
    Registration of one hook.

    ``matcher`` restricts the event by the ``source`` of a session's start or by the name of a tool. ``patience_s`` is the
    timeout that setup configures in the client; ``installed`` tells whether setup installs the hook by default.
    """

    event: str
    patience_s: int
    matcher: str = ""
    installed: bool = True

    @property
    def deadline_s(self) -> float:
        """Seconds after the start of the process when the hook sends its provisional answer."""
        return self.patience_s - _OWN_RESERVE_S


HOOKS = {
    "context-surfacing": HookRegistration("UserPromptSubmit", 8),
    "postcompact-inject": HookRegistration("SessionStart", 5, matcher="compact"),
    "curator-nudge": HookRegistration("SessionStart", 5, matcher="startup"),
    "precompact-extract": HookRegistration("PreCompact", 5),
    "postcompact-capture": HookRegistration("PostCompact", 10),
    "decision-extractor": HookRegistration("Stop", 30),
    "handoff-generator": HookRegistration("Stop", 30),
    "feedback-loop": HookRegistration("Stop", 30),
    "session-bootstrap": HookRegistration("SessionStart", 5, matcher="startup|resume|clear", installed=False),
    "staleness-check": HookRegistration("SessionStart", 5, matcher="startup", installed=False),
    "pretool-inject": HookRegistration(
        "PreToolUse", 3, matcher="Edit|MultiEdit|Write|NotebookEdit", installed=False
    ),
}


def module_of(name: str) -> str:
    """Return the module whose function ``run`` implements the hook *name*."""
    return f"clawmem.app.interfaces.hooks.{name.replace('-', '_')}"
