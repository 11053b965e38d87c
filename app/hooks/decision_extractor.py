"""decision-extractor: what was decided, preferred, achieved and what went wrong."""

from __future__ import annotations

from clawmem.app.hooks.at_stop import capture
from clawmem.app.hooks.protocol import HookEvent, HookOutput
from clawmem.app.hooks.surroundings import Surroundings


def run(event: HookEvent, here: Surroundings) -> HookOutput:
    """Capture what this turn decided."""
    return capture("decision-extractor", event, here)
