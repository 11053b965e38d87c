"""Hooks that capture a conversation: a job is stored in the spool first, then processed as far as time allows."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from time import monotonic

from clawmem.app.bootstrap.lazy import lazy
from clawmem.app.bootstrap.opening import open_services
from clawmem.app.environment.process_identity import holder_id, is_gone
from clawmem.app.interfaces.hooks.capture_jobs import CaptureJobs
from clawmem.app.interfaces.hooks.context import HookContext
from clawmem.app.interfaces.hooks.protocol import SILENCE, HookEvent, HookOutput
from clawmem.app.interfaces.hooks.spool import Drain, Job, JobsFailed, Spool
from clawmem.app.operations.embedding import embed_captured
from clawmem.app.settings.model import load_settings
from clawmem.domain.security.redaction import redact

AFTER_COMPACTION = "PostCompact"
MOST_SECONDS = 20.0  # of the 30 s that the client waits

# The fields that are needed to find the conversation again. Its text stays in the transcript; only the client's
# summary is stored, because no other file contains it.
_NAMED = ("session_id", "transcript_path", "cwd", "compact_summary")


def capture(name: str, event: HookEvent, context: HookContext) -> HookOutput:
    """
    Store the job of hook *name* in the spool, and process the spool unless another process does.

    The output is always silent, because the client would take any text for a reason to continue the turn. Nothing
    happens for a subagent, whose turns are part of the conversation that started it, or without a vault.
    """
    if event.in_subagent or not event.transcript_path or not context.vault.exists():
        return SILENCE
    spool = Spool(context.vault)
    spool.put(Job(name, {field: getattr(event, field) for field in _NAMED}))
    if event.last_assistant_message:
        conversation_files = lazy("adapters.files.conversation:ConversationFiles")
        conversation_files(event.transcript_path, event.session_id).wait_for(event.last_assistant_message)
    failures = context.work_off(spool)
    if failures:
        raise JobsFailed("; ".join(failures))
    return SILENCE


# Decisions, preferences, achievements and problems; the state for the next session; which memories the answer used; and
# the state of the conversation before its compaction.
decision_extractor = partial(capture, "decision-extractor")
handoff_generator = partial(capture, "handoff-generator")
feedback_loop = partial(capture, "feedback-loop")
precompact_extract = partial(capture, "precompact-extract")


def postcompact_capture(event: HookEvent, context: HookContext) -> HookOutput:
    """Store the summary of a compacted conversation, if the client sends one. The event accepts no answer."""
    if event.compact_summary:
        safe = event._replace(compact_summary=redact(event.compact_summary))
        capture("postcompact-capture", safe, context)
    return HookOutput(answers=AFTER_COMPACTION)


def drained(
    vault: Path, spool: Spool, environ: Mapping[str, str], seconds: float = MOST_SECONDS
) -> list[str]:
    """
    Process the jobs in *spool*, unless another process does; return a sentence for each failure.

    What they captured gets vectors at once, so that a question finds it also by meaning.

    Args:
        seconds: Time limit for all model calls together.
    """
    settings = load_settings(vault=vault, environ=environ)
    with open_services(settings, create=False) as services:
        drain = Drain(spool, services.vault.leases, services.clock, holder_id(), is_gone)
        end = monotonic() + seconds
        failures = drain(CaptureJobs(services, lambda: end - monotonic()))
        if monotonic() < end:
            embed_captured(services)
        return failures
