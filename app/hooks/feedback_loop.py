"""Hook ``feedback-loop``: records which memories the answer used."""

from __future__ import annotations

from clawmem.app.hooks.at_stop import capture
from clawmem.app.hooks.context import HookContext
from clawmem.app.hooks.protocol import HookEvent, HookOutput


def run(event: HookEvent, context: HookContext) -> HookOutput:
    """Store the attribution job of this turn."""
    return capture("feedback-loop", event, context)
