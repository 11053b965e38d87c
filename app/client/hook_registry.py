"""Registry of hooks: the event of each hook, its time limit, and whether it runs by default."""

from typing import NamedTuple, get_args

from clawmem.app.environment.places import OptionalHook

_OWN_RESERVE_S = 1.0  # subtracted from the client's timeout, for start-up and for answering

SESSION_VARIABLES = ("CLAUDE_CODE_SESSION_ID", "CLAUDE_SESSION_ID", "CLAWMEM_SESSION_ID")


class HookRegistration(NamedTuple):
    """
    Registration of one hook.

    ``patience_s`` is the hook's share of the timeout that setup configures in the client. ``matcher`` restricts the event
    by the ``source`` of a session's start or by the name of a tool.
    """

    event: str
    patience_s: int
    matcher: str = ""

    @property
    def deadline_s(self) -> float:
        """Seconds after which the provisional answer of the hook counts."""
        return self.patience_s - _OWN_RESERVE_S


# Hooks of one event run in this order. The longest context is last, because a joined answer is cut at its end.
HOOKS = {
    "context-surfacing": HookRegistration("UserPromptSubmit", 8),
    "postcompact-inject": HookRegistration("SessionStart", 5, matcher="compact"),
    "curator-nudge": HookRegistration("SessionStart", 5, matcher="startup"),
    "staleness-check": HookRegistration("SessionStart", 5, matcher="startup"),
    "session-bootstrap": HookRegistration("SessionStart", 5, matcher="startup|resume|clear|compact"),
    "precompact-extract": HookRegistration("PreCompact", 5),
    "postcompact-capture": HookRegistration("PostCompact", 10),
    "decision-extractor": HookRegistration("Stop", 30),
    "handoff-generator": HookRegistration("Stop", 30),
    "feedback-loop": HookRegistration("Stop", 30),
    "session-end": HookRegistration("SessionEnd", 5),
    "pretool-inject": HookRegistration("PreToolUse", 3, matcher="Edit|MultiEdit|Write|NotebookEdit"),
    "failure-inject": HookRegistration("PostToolUseFailure", 3, matcher="Bash"),
    "subagent-inject": HookRegistration("SubagentStart", 5),
}
EVENTS = tuple(dict.fromkeys(hook.event for hook in HOOKS.values()))
# Events of other clients, with the event of Claude Code at which the same hooks run.
ALIASES = {
    "BeforeAgent": "UserPromptSubmit",
    "AfterAgent": "Stop",
    "PreCompress": "PreCompact",
    "PostToolUse": "PostToolUseFailure",
}
OPTIONAL_HOOKS: tuple[str, ...] = get_args(OptionalHook)


class HookCall(NamedTuple):
    """
    A call by a client: the event that the answer is for, and the hooks to run.

    ``filters`` is false for a call of one hook by its name, whose matcher the client has applied.
    """

    event: str
    hooks: tuple[str, ...]
    filters: bool = True

    @property
    def patience_s(self) -> int:
        """The timeout for the client: enough for every hook to use up its own."""
        return sum(HOOKS[name].patience_s for name in self.hooks)

    @property
    def deadline_s(self) -> float:
        """Seconds after the start of the process when the answer is sent, complete or not."""
        return max(1.0, self.patience_s - _OWN_RESERVE_S)

    @property
    def matcher(self) -> str:
        """The values for which at least one hook runs, separated by ``|``; empty if every value does."""
        matchers = [HOOKS[name].matcher for name in self.hooks]
        return "|".join(dict.fromkeys("|".join(matchers).split("|"))) if all(matchers) else ""

    def hooks_for(self, value: str) -> list[str]:
        """Return the hooks that handle an event with the tool name *value*, or that source of a session's start."""
        matchers = {name: HOOKS[name].matcher if self.filters else "" for name in self.hooks}
        return [name for name, matcher in matchers.items() if not matcher or value in matcher.split("|")]


def call_named(name: str, optional: str = "") -> HookCall | None:
    """
    Return the call of an event or of one hook; ``None`` for an unknown name.

    Args:
        name: An event of any client, which runs all its hooks, or a hook.
        optional: The optional hooks to run with their event, separated by commas.
    """
    if name in HOOKS:
        return HookCall(HOOKS[name].event, (name,), filters=False)
    event = ALIASES.get(name, name)
    if event not in EVENTS:
        return None
    enabled = optional.replace(",", " ").split()
    of_event = (hook for hook, registered in HOOKS.items() if registered.event == event)
    return HookCall(name, tuple(hook for hook in of_event if hook in enabled or hook not in OPTIONAL_HOOKS))
