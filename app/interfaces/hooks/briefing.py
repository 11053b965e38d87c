"""Hooks that brief the model: at the start of a session, after a compaction, and before a file is changed."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from socket import gethostname

from clawmem.app.bootstrap.opening import open_services
from clawmem.app.environment.places import CURATOR_REPORT
from clawmem.app.environment.projects import project_of
from clawmem.app.interfaces.hooks.context import HookContext
from clawmem.app.interfaces.hooks.protocol import HookEvent
from clawmem.app.interfaces.hooks.spool import InjectedFingerprints
from clawmem.app.services.capture.briefing import curation_note
from clawmem.app.services.lifecycle.actions import read_policy
from clawmem.app.settings.model import load_settings
from clawmem.domain.briefing.naming import file_name
from clawmem.domain.documents.times import iso_utc
from clawmem.ports.sessions import Session

MOST_REPORT_BYTES = 1_000_000
FILE_FIELDS = ("file_path", "notebook_path")
SHORTEST = 3  # characters of a name that identifies a file
LONGEST, LONGEST_PATH = 255, 4096  # characters


def session_bootstrap(event: HookEvent, context: HookContext) -> str:
    """Brief a new session with profile, handoff and decisions, and record its start."""
    with context.services() as services:
        if services is None or event.in_subagent:
            return ""
        briefing = services.briefings.at_start(project_of(event.cwd))
    _inject(briefing, event, context)
    if event.session_id:
        with context.writable() as services:
            sessions, now = services.vault.sessions, iso_utc(services.clock.now_ms())
            known = sessions.get(event.session_id)
            new = Session(event.session_id, now, machine=gethostname())
            sessions.save(replace(known, ended_at=None) if known else new)
    return briefing


def staleness_check(event: HookEvent, context: HookContext) -> str:
    """Name up to five notes that are due for review, and archive idle notes according to the lifecycle policy."""
    with context.services() as services:
        if services is None or event.in_subagent:
            return ""
        due = services.briefings.staleness()
    context.offer(due)
    settings = load_settings(vault=context.vault, environ=context.environ)
    policy = read_policy(settings.lifecycle)
    if policy and not policy.only_previews:
        with open_services(settings, create=False) as services:
            services.lifecycle.sweep(policy, by="staleness-check")
    return due


def curator_nudge(event: HookEvent, context: HookContext) -> str:
    """Return the recommendations of the last ``clawmem curate`` while they are recent; silence without a report."""
    file, report = context.vault.with_name(CURATOR_REPORT), ""
    with suppress(OSError, UnicodeDecodeError):
        if file.stat().st_size <= MOST_REPORT_BYTES:
            report = file.read_text("utf-8")
    if not report or event.in_subagent:
        return ""
    with context.services() as services:
        if services is None:
            return ""
        vault = services.vault
        counts = {
            "pending": vault.embeddings.counts().pending,
            "documents": sum(vault.documents.collections().values()),
        }
        acted_at = next((act.at for act in vault.acts.latest(1)), "")
        return curation_note(report, services.clock.now_ms(), acted_at=acted_at, **counts)


def postcompact_inject(event: HookEvent, context: HookContext) -> str:
    """Restore information that the summary of a conversation omits; silence for a session that starts otherwise."""
    if event.source != "compact" or event.in_subagent:
        return ""
    with context.services() as services:
        if services is None:
            return ""
        state = services.conversation_files(event.transcript_path, event.session_id).state()
        restored = services.briefings.after_compaction(state, event.compact_summary, project_of(event.cwd))
    return _inject(restored, event, context)


def pretool_inject(event: HookEvent, context: HookContext) -> str:
    """Return up to three lessons about a file that is about to be changed; silence if there are none."""
    paths = [event.tool_input.get(field) for field in FILE_FIELDS]
    path = next((path for path in paths if isinstance(path, str)), "")[:LONGEST_PATH]
    if not SHORTEST <= len(file_name(path)) <= LONGEST or event.in_subagent:
        return ""
    with context.services() as services:
        if services is None:
            return ""
        lessons = services.briefings.file_lessons(path)
    return _inject(lessons, event, context)


def _inject(text: str, event: HookEvent, context: HookContext) -> str:
    """Offer *text*, and store its fingerprint, so that a repetition is not captured as new; return the text."""
    context.offer(text)
    InjectedFingerprints(context.vault).add(event.session_id, text)
    return text
