"""staleness-check: the notes that are due for another look."""

from __future__ import annotations

from clawmem.app.hooks.opening import records
from clawmem.app.hooks.protocol import SILENCE, HookEvent, HookOutput, Offer
from clawmem.app.hooks.safety import safe


def run(event: HookEvent, offer: Offer) -> HookOutput:
    """Name up to five of them."""
    with records() as vault:
        if vault is None or event.in_subagent:
            return SILENCE
        from clawmem.adapters.system.clock import SystemClock
        from clawmem.app.services.briefing.session import SessionBriefing

        return HookOutput(SessionBriefing(vault, SystemClock(), safe).staleness())
