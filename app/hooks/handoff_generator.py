"""handoff-generator: where this session stands, for the next one."""

from __future__ import annotations

from clawmem.app.hooks.at_stop import capture
from clawmem.app.hooks.protocol import HookEvent, HookOutput, Offer


def run(event: HookEvent, offer: Offer) -> HookOutput:
    """Renew the handoff."""
    return capture("handoff-generator", event)
