"""Sentences beside the block: where to ask further, and that memory wants tending."""

from __future__ import annotations

from clawmem.domain.security.patterns import AnyCase
from clawmem.domain.surfacing.profiles import NUDGE_INTERVAL

# By the tool that knows more, the command that does the same: a hook cannot see whether the tools are set up.
_TOOLS = {
    "session_log": (
        "sessions",
        (
            "timeline|last session|last time|yesterday|recently|when did|what happened|history of|left off|leave off|"
            "continue where|where were we|what's next|next steps"
        ),
    ),
    "intent_search": ("intent-search", "why|cause|caused|causes|because|reason|led to|decided|rationale"),
    "find_similar": (
        "similar",
        "similar|related|like this|what else|discover|explore|anything about",
    ),
}
_WANTED = {tool: AnyCase(rf"(?<!\w)(?:{words})(?!\w)", words) for tool, (_, words) in _TOOLS.items()}


def routing_hint(prompt: str) -> str:
    """
    Which command, and which tool, knows more about a question of this kind; empty for a plain one.

    Of time before causes, of causes before discovery.
    """
    for tool, (command, _) in _TOOLS.items():
        if _WANTED[tool].search(prompt):
            return (
                f"More about this: clawmem {command}, clawmem retrieve "
                f"(tools, where they are set up: {tool}, memory_retrieve)."
            )
    return ""


def nudge(blocks_since: int, interval: int = NUDGE_INTERVAL) -> str:
    """A reminder that memory can be tended, after so many blocks without it; empty before."""
    if interval <= 0 or blocks_since < interval:
        return ""
    return (
        f"{blocks_since} prompts have carried memories since any was last tended; clawmem pin lifts one that matters, "
        "clawmem snooze hides one that distracts (tools, where they are set up: memory_pin, memory_snooze)."
    )
