"""The hooks there are: to which event each belongs, how long a client waits for it, whether set-up installs it."""

from __future__ import annotations

from clawmem.ports.named_tuple import NamedTuple

_OWN_RESERVE_S = 1.0  # of the client's patience, for starting and for answering


class Registered(NamedTuple):
    """
    One hook.

    ``matcher`` narrows the event: the ``source`` of a session's start, the name of a tool. ``patience_s`` is
    what set-up tells the client to wait for; ``installed`` whether it does so unasked.
    """

    event: str
    patience_s: int
    matcher: str = ""
    installed: bool = True

    @property
    def deadline_s(self) -> float:
        """After so many seconds of its process the hook answers with what it has."""
        return self.patience_s - _OWN_RESERVE_S


HOOKS = {
    "context-surfacing": Registered("UserPromptSubmit", 8),
    "postcompact-inject": Registered("SessionStart", 5, matcher="compact"),
    "curator-nudge": Registered("SessionStart", 5, matcher="startup"),
    "precompact-extract": Registered("PreCompact", 5),
    "postcompact-capture": Registered("PostCompact", 10),
    "decision-extractor": Registered("Stop", 30),
    "handoff-generator": Registered("Stop", 30),
    "feedback-loop": Registered("Stop", 30),
    "session-bootstrap": Registered("SessionStart", 5, matcher="startup|resume|clear", installed=False),
    "staleness-check": Registered("SessionStart", 5, matcher="startup", installed=False),
    "pretool-inject": Registered(
        "PreToolUse", 3, matcher="Edit|MultiEdit|Write|NotebookEdit", installed=False
    ),
}


def module_of(name: str) -> str:
    """The module whose function ``run`` is the hook *name*."""
    return f"clawmem.app.hooks.{name.replace('-', '_')}"
