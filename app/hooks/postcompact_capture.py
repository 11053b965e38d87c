"""postcompact-capture: the summary that stands for the conversation from here on, kept for other sessions."""

from __future__ import annotations

from clawmem.app.hooks.at_stop import capture
from clawmem.app.hooks.protocol import HookEvent, HookOutput
from clawmem.app.hooks.surroundings import Surroundings

AFTER = "PostCompact"


def run(event: HookEvent, here: Surroundings) -> HookOutput:
    """Keep it, where the client tells it; this event takes no answer."""
    if event.compact_summary:
        from clawmem.app.hooks.capturing import without_secrets

        safe = event._replace(compact_summary=without_secrets(event.compact_summary))
        capture("postcompact-capture", safe, here)
    return HookOutput(answers=AFTER)
