"""feedback-loop: what of the memory the answer made use of."""

from __future__ import annotations

from clawmem.app.hooks.at_stop import capture
from clawmem.app.hooks.protocol import HookEvent, HookOutput
from clawmem.app.hooks.surroundings import Surroundings


def run(event: HookEvent, here: Surroundings) -> HookOutput:
    """Attribute the turn."""
    return capture("feedback-loop", event, here)
