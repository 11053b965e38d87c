"""session-bootstrap: what the vault knows when a session begins."""

from __future__ import annotations

from clawmem.app.hooks.injected import Injected
from clawmem.app.hooks.protocol import SILENCE, HookEvent, HookOutput
from clawmem.app.hooks.safety import safe
from clawmem.app.hooks.surroundings import Surroundings


def run(event: HookEvent, here: Surroundings) -> HookOutput:
    """Tell what is there, and note that the session began."""
    with here.records() as vault:
        if vault is None or event.in_subagent:
            return SILENCE
        from clawmem.adapters.system.clock import SystemClock
        from clawmem.app.services.briefing.session import SessionBriefing

        output = HookOutput(SessionBriefing(vault, SystemClock(), safe).at_start())
    here.offer(output)
    Injected(here.vault).add(event.session_id, output.context)
    if event.session_id:
        _note_start(event.session_id, here)
    return output


def _note_start(session_id: str, here: Surroundings) -> None:
    from socket import gethostname

    from clawmem.adapters.system.clock import SystemClock
    from clawmem.domain.documents.times import iso_utc

    with here.writable_records() as vault:
        vault.sessions.start(session_id, iso_utc(SystemClock().now_ms()), gethostname())
