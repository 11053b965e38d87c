"""Hook ``context-surfacing``: adds matching notes to a prompt before the model reads it."""

from __future__ import annotations

import time
from os.path import isfile

from clawmem.app.interfaces.hooks.context import HookContext
from clawmem.app.interfaces.hooks.protocol import SILENCE, HookEvent, HookOutput
from clawmem.app.settings.plain import SurfacingSettings, surfacing_settings
from clawmem.domain.surfacing.gate import why_skip

CONTEXT_SURFACING = "context-surfacing"


def run(event: HookEvent, context: HookContext) -> HookOutput:
    """
    Return the block for the prompt of *event*, or silence.

    Silent for subagents and timers, and without a vault. For a prompt that needs no search, only a row of telemetry
    is written, without opening the whole vault.
    """
    settings = surfacing_settings(context.environ)
    if event.in_subagent or not event.prompted_by_person or not isfile(settings.vault):  # noqa: PTH113
        return SILENCE
    if why_skip(event.prompt, heartbeats=settings.heartbeats, with_heartbeats=settings.with_heartbeats):
        _write_down_alone(event, settings)
        return SILENCE
    return _surfaced(event, settings, context)


def _surfaced(event: HookEvent, settings: SurfacingSettings, context: HookContext) -> HookOutput:
    from clawmem.app.interfaces.hooks.conversation import compacted_at, loaded_by_client
    from clawmem.app.interfaces.hooks.embed_server import EmbedServer
    from clawmem.app.interfaces.hooks.surfacing_wiring import surface_over
    from clawmem.app.services.surfacing.choices import Choices
    from clawmem.app.services.surfacing.turns import gated, turns_of
    from clawmem.domain.surfacing.profiles import profile_named

    with context.searchable() as vault:
        if vault is None:
            return SILENCE
        turns, now_ms = turns_of(vault.telemetry, event.session_id, event.prompt_id), _now_ms()
        if turns.seen(event.prompt, now_ms, settings.dedupe_s):
            vault.telemetry.record(gated(turns, event.prompt, now_ms))
            return SILENCE
        profile = profile_named(settings.profile)
        choices = Choices(
            profile,
            topic=_topic(event, settings),
            mode=settings.mode,
            session_id=event.session_id,
            compacted_at=compacted_at(event.transcript_path),
            loaded=loaded_by_client(event.transcript_path),
        )
        server = EmbedServer(vault, settings)
        surface = surface_over(vault, settings, profile, context.models, server)
        surfaced = surface(event.prompt, turns, choices, lambda block: context.offer(HookOutput(block)))
        server.learn(surfaced.answer.trace.degraded)
        return HookOutput(surfaced.block)


def _write_down_alone(event: HookEvent, settings: SurfacingSettings) -> None:
    """Write the telemetry row of a turn without a search, so that turns can be counted. Best effort."""
    if not settings.remembers or not event.session_id:
        return
    from clawmem.adapters.sqlite.silent_turn import record_silent_turn

    record_silent_turn(settings.vault, CONTEXT_SURFACING, event.session_id)


def _topic(event: HookEvent, settings: SurfacingSettings) -> str:
    from clawmem.app.environment.session_topics import Topics

    kept = Topics(settings.topics).get(event.session_id) if event.session_id else ""
    return kept or settings.topic


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
