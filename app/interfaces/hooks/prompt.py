"""Hook ``context-surfacing``: adds matching notes to a prompt before the model reads it."""

from __future__ import annotations

from functools import partial
from time import time_ns

from clawmem.app.interfaces.hooks.context import HookContext
from clawmem.app.interfaces.hooks.protocol import HookEvent
from clawmem.app.interfaces.hooks.runner import log_daily
from clawmem.domain.surfacing.gate import Skip, why_skip


def context_surfacing(event: HookEvent, context: HookContext) -> str:
    """
    Return the block for the prompt of *event*, or silence.

    Silent for subagents and timers, without a vault, and for a prompt that needs no search: such a prompt is no turn.
    """
    if event.in_subagent or not event.prompted_by_person:
        return ""
    if why_skip(event.prompt) not in (None, Skip.HEARTBEAT):
        return ""  # without the settings, which take most of the time of such a prompt
    from clawmem.app.environment.projects import project_of
    from clawmem.app.environment.session_topics import Topics
    from clawmem.app.services.capture.visibility import applying_elsewhere
    from clawmem.app.services.surfacing.steps import Choices
    from clawmem.app.services.surfacing.turns import gated, turns_of
    from clawmem.app.settings.model import load_settings
    from clawmem.domain.documents.times import iso_utc
    from clawmem.domain.surfacing.profiles import profile_named

    report = partial(log_daily, context.vault, "context-surfacing")
    settings = load_settings(environ=context.environ, lenient=report)
    heartbeats, with_heartbeats = settings.heartbeat_patterns, settings.with_heartbeats
    if not settings.vault.is_file() or why_skip(
        event.prompt, heartbeats=heartbeats, with_heartbeats=with_heartbeats
    ):
        return ""
    with context.services() as services:
        if services is None:
            return ""
        vault, now_ms = services.vault, time_ns() // 1_000_000
        turns = turns_of(vault.telemetry, event.session_id, event.prompt_id)
        if turns.seen(event.prompt, now_ms, settings.dedupe_seconds):
            vault.telemetry.record(gated(turns, event.prompt, now_ms))
            return ""
        profile = profile_named(settings.profile, settings.token_budget)
        files = services.conversation_files(event.transcript_path, event.session_id)
        compacted_ms = files.compacted_at_ms()
        topic = Topics(settings.topics).get(event.session_id) if event.session_id else ""
        choices = Choices(
            profile,
            topic=topic or settings.topic,
            mode=settings.threshold_mode,
            session_id=event.session_id,
            compacted_at=iso_utc(compacted_ms) if compacted_ms else "",
            loaded=files.loaded_by_client(),
            elsewhere=applying_elsewhere(vault.properties, project_of(event.cwd)),
        )
        surface = services.prompt_surfacing(settings, profile)
        return surface(event.prompt, turns, choices, context.offer).block
