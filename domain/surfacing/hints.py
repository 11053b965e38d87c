"""Sentences beside the block: where to ask further, and that memory wants tending."""

from __future__ import annotations

import re

NUDGE_INTERVAL = 15  # blocks since anybody last tended the memory; 0 is never
TENDING = frozenset({"memory_pin", "memory_forget", "memory_snooze", "lifecycle-archive"})

_TOOLS = {
    "session_log": r"timeline|last session|last time|yesterday|recently|when did|what happened|history of",
    "intent_search": r"why|cause[ds]?|because|reason|led to|decided|rationale",
    "find_similar": r"similar|related|like this|what else|discover|explore|anything about",
}


def routing_hint(prompt: str) -> str:
    """
    Which tool knows more about a question of this kind; empty for a plain one.

    Of time before causes, of causes before discovery.
    """
    for tool, wanted in _TOOLS.items():
        if re.search(rf"(?<!\w)(?:{wanted})(?!\w)", prompt, re.IGNORECASE):
            return f"More about this may be in {tool}, or in memory_retrieve."
    return ""


def nudge(blocks_since: int, interval: int = NUDGE_INTERVAL) -> str:
    """A reminder that memory can be tended, after so many blocks without it; empty before."""
    if interval <= 0 or blocks_since < interval:
        return ""
    return (
        f"{blocks_since} prompts have carried memories since any was last tended; memory_pin lifts one that matters, "
        "memory_snooze hides one that distracts."
    )
