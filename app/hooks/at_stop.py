"""The end of a turn: what is to be captured is written down first, then done as far as the time allows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from time import monotonic

from clawmem.app.hooks.protocol import SILENCE, HookEvent, HookOutput
from clawmem.app.hooks.spool import Drain, Job, JobsFailed, Spool
from clawmem.app.hooks.surroundings import Surroundings

MOST_SECONDS = 20.0  # of the client's thirty

# No more than is needed to find the conversation again: what was said in it stays where it was said. Only the
# client's own summary of it is found nowhere else.
_NAMED = ("session_id", "transcript_path", "cwd", "compact_summary")


def capture(name: str, event: HookEvent, here: Surroundings) -> HookOutput:
    """
    Leave the work of hook *name* to the spool, and begin with it unless somebody else does already.

    Nothing is said: a client would take it for a reason to go on with the turn. A subagent's turns are part of
    the conversation that started it, and a vault that is not there is not made.
    """
    if event.in_subagent or not event.transcript_path or not here.vault.exists():
        return SILENCE
    spool = Spool(here.vault)
    spool.put(Job(name, {field: getattr(event, field) for field in _NAMED}))
    if event.last_assistant_message:
        from clawmem.app.hooks.lagging import wait_for

        wait_for(event.last_assistant_message, Path(event.transcript_path))
    failures = here.work_off(spool)
    if failures:
        raise JobsFailed("; ".join(failures))
    return SILENCE


def drained(
    vault: Path, spool: Spool, environ: Mapping[str, str], seconds: float = MOST_SECONDS
) -> list[str]:
    """
    Do what waits in *spool*, unless another process is at it; what failed, in sentences.

    Args:
        seconds: How long models may be waited for, everything together.
    """
    from clawmem.adapters.system.holder import holder_id, is_gone
    from clawmem.app.hooks.capturing import Capturing
    from clawmem.app.opened import open_services
    from clawmem.app.settings import load_settings

    settings = load_settings(vault=vault, environ=environ)
    with open_services(settings, create=False) as services:
        drain = Drain(spool, services.vault.leases, services.clock, holder_id(), is_gone)
        end = monotonic() + seconds
        return drain(Capturing(services, lambda: end - monotonic()))
