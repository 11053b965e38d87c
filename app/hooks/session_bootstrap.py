"""session-bootstrap: what the vault knows when a session begins."""

from __future__ import annotations

from clawmem.app.hooks.opening import records
from clawmem.app.hooks.protocol import SILENCE, HookEvent, HookOutput, Offer
from clawmem.app.hooks.safety import safe


def run(event: HookEvent, offer: Offer) -> HookOutput:
    """Tell what is there, and note that the session began."""
    with records() as vault:
        if vault is None or event.in_subagent:
            return SILENCE
        from clawmem.adapters.system.clock import SystemClock
        from clawmem.app.services.briefing.session import SessionBriefing

        output = HookOutput(SessionBriefing(vault, SystemClock(), safe).at_start())
    offer(output)
    if event.session_id:
        _note_start(event.session_id)
    return output


def _note_start(session_id: str) -> None:
    from socket import gethostname

    from clawmem.adapters.system.clock import SystemClock
    from clawmem.app.hooks.opening import writable_records
    from clawmem.domain.documents.times import iso_utc

    with writable_records() as vault:
        vault.sessions.start(session_id, iso_utc(SystemClock().now_ms()), gethostname())
