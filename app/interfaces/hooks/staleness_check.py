"""Hook ``staleness-check``: names notes that are due for review."""

from __future__ import annotations

from clawmem.app.interfaces.hooks.context import HookContext
from clawmem.app.interfaces.hooks.protocol import SILENCE, HookEvent, HookOutput
from clawmem.app.interfaces.hooks.safety import safe


def run(event: HookEvent, context: HookContext) -> HookOutput:
    """Return up to five notes, and archive idle notes according to the lifecycle policy."""
    with context.records() as vault:
        if vault is None or event.in_subagent:
            return SILENCE
        from clawmem.adapters.system.clock import SystemClock
        from clawmem.app.services.briefing.session import SessionBriefing

        output = HookOutput(SessionBriefing(vault, SystemClock(), safe).staleness())
    context.offer(output)
    _archive_idle(context)
    return output


def _archive_idle(context: HookContext) -> None:
    """Archive notes according to the lifecycle policy, unless it only previews."""
    from clawmem.app.services.lifecycle.archive_policy import read_policy
    from clawmem.app.settings.model import load_settings

    settings = load_settings(vault=context.vault, environ=context.environ)
    policy = read_policy(settings.lifecycle)
    if policy is None or policy.only_previews:
        return
    from clawmem.app.bootstrap.opening import open_services
    from clawmem.app.services.lifecycle.archiving import Archiving

    with open_services(settings, create=False) as services:
        Archiving(services.vault, services.clock).sweep(policy, by="staleness-check")
