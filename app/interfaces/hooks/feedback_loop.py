"""Hook ``feedback-loop``: records which memories the answer used."""

from __future__ import annotations

from clawmem.app.interfaces.hooks.at_stop import capture
from clawmem.app.interfaces.hooks.context import HookContext
from clawmem.app.interfaces.hooks.protocol import HookEvent, HookOutput


def run(event: HookEvent, context: HookContext) -> HookOutput:
    """Store the attribution job of this turn."""
    return capture("feedback-loop", event, context)
