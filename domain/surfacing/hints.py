"""Sentences next to the block: a hint at better-suited commands, and a reminder to curate the memory."""

from __future__ import annotations

import re

from clawmem.domain.surfacing.profiles import NUDGE_INTERVAL

# Tool → (equivalent command, trigger words). Both are named, because a hook cannot see whether the tools are set up.
_TOOLS = {
    "session_log": (
        "sessions",
        (
            "timeline|last session|last time|yesterday|recently|when did|what happened|history of|left off|leave off|"
            "continue where|where were we|what's next|next steps"
        ),
    ),
    "intent_search": (
        "query --mode intent",
        "why|cause|caused|causes|because|reason|led to|decided|rationale",
    ),
    "find_similar": (
        "links --similar",
        "similar|related|like this|what else|discover|explore|anything about",
    ),
}
_WANTED = {
    tool: re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE) for tool, (_, words) in _TOOLS.items()
}


def routing_hint(prompt: str) -> str:
    """
    Return a hint at the command and tool suited to this kind of question; empty for a plain question.

    Questions about time take precedence over questions about causes, and those over discovery.
    """
    for tool, (command, _) in _TOOLS.items():
        if _WANTED[tool].search(prompt):
            return (
                f"More about this: clawmem {command}, clawmem query --mode auto "
                f"(tools, where they are set up: {tool}, memory_retrieve)."
            )
    return ""


def nudge(blocks_since: int, interval: int = NUDGE_INTERVAL) -> str:
    """Return a reminder to curate the memory after each *interval* blocks without curation; else empty."""
    if interval <= 0 or blocks_since < interval or blocks_since % interval:
        return ""
    return (
        f"{blocks_since} prompts have carried memories since any was last tended; clawmem pin lifts one that matters, "
        "clawmem snooze hides one that distracts (tools, where they are set up: memory_pin, memory_snooze)."
    )
