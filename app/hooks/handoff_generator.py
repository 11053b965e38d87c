"""handoff-generator: where this session stands, for the next one."""

from __future__ import annotations

from clawmem.app.hooks.at_stop import capture
from clawmem.app.hooks.protocol import HookEvent, HookOutput
from clawmem.app.hooks.surroundings import Surroundings


def run(event: HookEvent, here: Surroundings) -> HookOutput:
    """Renew the handoff."""
    return capture("handoff-generator", event, here)
