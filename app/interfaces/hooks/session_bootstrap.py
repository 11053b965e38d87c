"""Hook ``session-bootstrap``: briefs a new session with profile, handoff and decisions."""

from __future__ import annotations

from clawmem.app.interfaces.hooks.context import HookContext
from clawmem.app.interfaces.hooks.injected import InjectedFingerprints
from clawmem.app.interfaces.hooks.protocol import SILENCE, HookEvent, HookOutput
from clawmem.app.interfaces.hooks.safety import safe


def run(event: HookEvent, context: HookContext) -> HookOutput:
    """Return the briefing, and record the start of the session."""
    with context.records() as vault:
        if vault is None or event.in_subagent:
            return SILENCE
        from clawmem.adapters.system.clock import SystemClock
        from clawmem.app.services.briefing.session import SessionBriefing

        output = HookOutput(SessionBriefing(vault, SystemClock(), safe).at_start())
    context.offer(output)
    InjectedFingerprints(context.vault).add(event.session_id, output.context)
    if event.session_id:
        _note_start(event.session_id, context)
    return output


def _note_start(session_id: str, context: HookContext) -> None:
    from socket import gethostname

    from clawmem.adapters.system.clock import SystemClock
    from clawmem.domain.documents.times import iso_utc

    with context.writable_records() as vault:
        vault.sessions.start(session_id, iso_utc(SystemClock().now_ms()), gethostname())
