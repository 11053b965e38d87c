"""Hook ``context-surfacing``: adds matching notes to a prompt before the model reads it."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from clawmem.app.interfaces.hooks.context import HookContext
from clawmem.app.interfaces.hooks.protocol import SILENCE, HookEvent, HookOutput
from clawmem.app.interfaces.hooks.runner import log_daily
from clawmem.domain.surfacing.gate import Skip, why_skip

if TYPE_CHECKING:
    from clawmem.app.settings.model import Settings


def context_surfacing(event: HookEvent, context: HookContext) -> HookOutput:
    """
    Return the block for the prompt of *event*, or silence.

    Silent for subagents and timers, without a vault, and for a prompt that needs no search: such a prompt is no turn.
    """
    if event.in_subagent or not event.prompted_by_person:
        return SILENCE
    if why_skip(event.prompt) not in (None, Skip.HEARTBEAT):
        return SILENCE  # without the settings, which take most of the time of such a prompt
    return _surfaced(event, context)


def _surfaced(event: HookEvent, context: HookContext) -> HookOutput:
    from clawmem.app.environment.projects import project_of
    from clawmem.app.services.capture.visibility import applying_elsewhere
    from clawmem.app.services.surfacing.steps import Choices
    from clawmem.app.services.surfacing.turns import gated, turns_of
    from clawmem.app.settings.model import load_settings
    from clawmem.domain.surfacing.profiles import profile_named

    report = partial(log_daily, context.vault, "context-surfacing")
    settings = load_settings(environ=context.environ, lenient=report)
    heartbeats, with_heartbeats = settings.heartbeat_patterns, settings.with_heartbeats
    if not settings.vault.is_file() or why_skip(
        event.prompt, heartbeats=heartbeats, with_heartbeats=with_heartbeats
    ):
        return SILENCE
    with context.services() as services:
        if services is None:
            return SILENCE
        vault = services.vault
        turns, now_ms = turns_of(vault.telemetry, event.session_id, event.prompt_id), _now_ms()
        if turns.seen(event.prompt, now_ms, settings.dedupe_seconds):
            vault.telemetry.record(gated(turns, event.prompt, now_ms))
            return SILENCE
        profile = profile_named(settings.profile, settings.token_budget)
        files = services.conversation_files(event.transcript_path, event.session_id)
        choices = Choices(
            profile,
            topic=_topic(event, settings),
            mode=settings.threshold_mode,
            session_id=event.session_id,
            compacted_at=_written(files.compacted_at_ms()),
            loaded=files.loaded_by_client(),
            elsewhere=applying_elsewhere(vault.properties, project_of(event.cwd)),
        )
        surface = services.prompt_surfacing(settings, profile)
        surfaced = surface(event.prompt, turns, choices, lambda block: context.offer(HookOutput(block)))
        return HookOutput(surfaced.block)


def _topic(event: HookEvent, settings: Settings) -> str:
    from clawmem.app.environment.session_topics import Topics

    kept = Topics(settings.topics).get(event.session_id) if event.session_id else ""
    return kept or settings.topic


def _written(time_ms: int) -> str:
    from clawmem.domain.documents.times import iso_utc

    return iso_utc(time_ms) if time_ms else ""


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
