"""Hook ``handoff-generator``: writes the state of the session for the next session."""

from __future__ import annotations

from clawmem.app.interfaces.hooks.at_stop import capture
from clawmem.app.interfaces.hooks.context import HookContext
from clawmem.app.interfaces.hooks.protocol import HookEvent, HookOutput


def run(event: HookEvent, context: HookContext) -> HookOutput:
    """Store the handoff job of this turn."""
    return capture("handoff-generator", event, context)
