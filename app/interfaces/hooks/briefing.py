"""Hooks that brief the model: at the start of a session, after a compaction, and before a file is changed."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from socket import gethostname

from clawmem.app.bootstrap.opening import open_services
from clawmem.app.environment.places import CURATOR_REPORT
from clawmem.app.environment.projects import project_of
from clawmem.app.interfaces.hooks.capture import AFTER_COMPACTION, postcompact_capture
from clawmem.app.interfaces.hooks.context import HookContext
from clawmem.app.interfaces.hooks.injected import InjectedFingerprints
from clawmem.app.interfaces.hooks.protocol import SILENCE, HookEvent, HookOutput
from clawmem.app.services.capture.briefing import curation_note
from clawmem.app.services.lifecycle.archiving import read_policy
from clawmem.app.settings.model import load_settings
from clawmem.domain.briefing.naming import file_name
from clawmem.domain.documents.times import iso_utc
from clawmem.ports.sessions import Session

MOST_REPORT_BYTES = 1_000_000
FILE_FIELDS = ("file_path", "notebook_path")
SHORTEST = 3  # characters of a name that identifies a file
LONGEST, LONGEST_PATH = 255, 4096  # characters


def session_bootstrap(event: HookEvent, context: HookContext) -> HookOutput:
    """Brief a new session with profile, handoff and decisions, and record its start."""
    with context.services() as services:
        if services is None or event.in_subagent:
            return SILENCE
        output = HookOutput(services.briefings.at_start(project_of(event.cwd)))
    _inject(output, event, context)
    if event.session_id:
        _record_start(event.session_id, context)
    return output


def staleness_check(event: HookEvent, context: HookContext) -> HookOutput:
    """Name up to five notes that are due for review, and archive idle notes according to the lifecycle policy."""
    with context.services() as services:
        if services is None or event.in_subagent:
            return SILENCE
        output = HookOutput(services.briefings.staleness())
    context.offer(output)
    _archive_idle(context)
    return output


def curator_nudge(event: HookEvent, context: HookContext) -> HookOutput:
    """Return the recommendations of the last ``clawmem curate`` while they are recent; silence without a report."""
    report = _report(context.vault.with_name(CURATOR_REPORT))
    if report is None or event.in_subagent:
        return SILENCE
    with context.services() as services:
        if services is None:
            return SILENCE
        vault = services.vault
        counts = {
            "pending": vault.embeddings.counts().pending,
            "documents": sum(vault.documents.collections().values()),
        }
        acted_at = next((act.at for act in vault.acts.latest(1)), "")
        return HookOutput(curation_note(report, services.clock.now_ms(), acted_at=acted_at, **counts))


def postcompact_inject(event: HookEvent, context: HookContext) -> HookOutput:
    """
    Restore information that the summary of a conversation omits; silence for a session that starts otherwise.

    For the event PostCompact, which accepts no answer, store the summary instead.
    """
    if event.name == AFTER_COMPACTION:
        context.offer(HookOutput(answers=AFTER_COMPACTION))
        return postcompact_capture(event, context)
    if event.source != "compact" or event.in_subagent:
        return SILENCE
    with context.services() as services:
        if services is None:
            return SILENCE
        state = services.conversation_files(event.transcript_path, event.session_id).state()
        output = HookOutput(
            services.briefings.after_compaction(state, event.compact_summary, project_of(event.cwd))
        )
    _inject(output, event, context)
    return output


def pretool_inject(event: HookEvent, context: HookContext) -> HookOutput:
    """Return up to three lessons about a file that is about to be changed; silence if there are none."""
    path = touched(event)
    if not SHORTEST <= len(file_name(path)) <= LONGEST or event.in_subagent:
        return SILENCE
    with context.services() as services:
        if services is None:
            return SILENCE
        output = HookOutput(services.briefings.file_lessons(path))
    _inject(output, event, context)
    return output


def touched(event: HookEvent) -> str:
    """Return the path of the file that a tool is about to change; empty if it names none."""
    paths = [event.tool_input.get(field) for field in FILE_FIELDS]
    return next((path for path in paths if isinstance(path, str)), "")[:LONGEST_PATH]


def _inject(output: HookOutput, event: HookEvent, context: HookContext) -> None:
    """Offer *output*, and store its fingerprint, so that a repetition is not captured as new information."""
    context.offer(output)
    InjectedFingerprints(context.vault).add(event.session_id, output.context)


def _record_start(session_id: str, context: HookContext) -> None:
    with context.writable() as services:
        sessions, now = services.vault.sessions, iso_utc(services.clock.now_ms())
        known = sessions.get(session_id)
        sessions.save(
            replace(known, ended_at=None) if known else Session(session_id, now, machine=gethostname())
        )


def _archive_idle(context: HookContext) -> None:
    """Archive notes according to the lifecycle policy, unless it only previews."""
    settings = load_settings(vault=context.vault, environ=context.environ)
    policy = read_policy(settings.lifecycle)
    if policy is None or policy.only_previews:
        return
    with open_services(settings, create=False) as services:
        services.archiving.sweep(policy, by="staleness-check")


def _report(file: Path) -> str | None:
    with suppress(OSError, UnicodeDecodeError):
        if file.stat().st_size <= MOST_REPORT_BYTES:
            return file.read_text("utf-8")
    return None
