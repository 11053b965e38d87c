"""Hook ``precompact-extract``: saves the state of a conversation before its compaction."""

from __future__ import annotations

from clawmem.app.interfaces.hooks.at_stop import capture
from clawmem.app.interfaces.hooks.context import HookContext
from clawmem.app.interfaces.hooks.protocol import HookEvent, HookOutput


def run(event: HookEvent, context: HookContext) -> HookOutput:
    """Save the state next to the transcript."""
    return capture("precompact-extract", event, context)
