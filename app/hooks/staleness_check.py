"""staleness-check: the notes that are due for another look."""

from __future__ import annotations

from clawmem.app.hooks.protocol import SILENCE, HookEvent, HookOutput
from clawmem.app.hooks.safety import safe
from clawmem.app.hooks.surroundings import Surroundings


def run(event: HookEvent, here: Surroundings) -> HookOutput:
    """Name up to five of them; what is idle for longer than the owner wants to see is put away."""
    with here.records() as vault:
        if vault is None or event.in_subagent:
            return SILENCE
        from clawmem.adapters.system.clock import SystemClock
        from clawmem.app.services.briefing.session import SessionBriefing

        output = HookOutput(SessionBriefing(vault, SystemClock(), safe).staleness())
    here.offer(output)
    _put_away(here)
    return output


def _put_away(here: Surroundings) -> None:
    """Archive what the owner's policy puts away, if they have one that does more than preview."""
    from clawmem.app.settings import load_settings
    from clawmem.domain.lifecycle.policy import read_policy

    settings = load_settings(vault=here.vault, environ=here.environ)
    policy = read_policy(settings.lifecycle)
    if policy is None or policy.only_previews:
        return
    from clawmem.app.opened import open_services
    from clawmem.app.services.lifecycle.archiving import Archiving

    with open_services(settings, create=False) as services:
        Archiving(services.vault, services.clock).sweep(policy, by="staleness-check")
