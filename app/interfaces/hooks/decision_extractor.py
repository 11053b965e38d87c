"""Hook ``decision-extractor``: stores decisions, preferences, achievements and problems."""

from __future__ import annotations

from clawmem.app.interfaces.hooks.at_stop import capture
from clawmem.app.interfaces.hooks.context import HookContext
from clawmem.app.interfaces.hooks.protocol import HookEvent, HookOutput


def run(event: HookEvent, context: HookContext) -> HookOutput:
    """Store the capture job of this turn."""
    return capture("decision-extractor", event, context)
