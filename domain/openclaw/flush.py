"""Flush of memory before compaction: the moment at which the agent is asked to save decisions and facts."""

from __future__ import annotations

from typing import NamedTuple

RESERVE_TOKENS = 20_000
SOFT_TOKENS = 4_000
LARGEST_TRANSCRIPT = 2 << 20  # bytes; a longer transcript is flushed with any number of tokens
NO_REPLY = "NO_REPLY"


class FlushSettings(NamedTuple):
    """
    Settings of the flush, in tokens.

    ``reserve_tokens`` is the room that the host keeps free, if it is more than ``reserve_floor``. ``compacts_at`` is
    the number of tokens at which the host compacts, where that is known; 0 if it compacts at the reserve.
    """

    soft_tokens: int = SOFT_TOKENS
    reserve_floor: int = RESERVE_TOKENS
    reserve_tokens: int = 0
    compacts_at: int = 0
    largest_transcript: int = LARGEST_TRANSCRIPT
    enabled: bool = True


DEFAULTS = FlushSettings()


class FlushState(NamedTuple):
    """
    State of a session. ``flushed_at`` is the number of compactions at the last flush; None if there was none.

    ``can_write`` tells whether the agent may write to its workspace. ``is_heartbeat`` marks a turn of a timer.
    """

    total_tokens: int
    context_window: int
    compactions: int = 0
    flushed_at: int | None = None
    transcript_bytes: int = 0
    can_write: bool = True
    is_heartbeat: bool = False


def flush_threshold(context_window: int, settings: FlushSettings = DEFAULTS) -> int:
    """
    Return the number of tokens from which on memory is flushed.

    It is ``soft_tokens`` before the compaction: before ``compacts_at`` if that is known, else before the larger
    one of the two reserves is reached. It is never negative.
    """
    reserve = max(settings.reserve_tokens, settings.reserve_floor)
    compaction = context_window - reserve
    if settings.compacts_at:
        compaction = min(compaction, settings.compacts_at)
    return max(0, compaction - settings.soft_tokens)


def is_flush_due(state: FlushState, settings: FlushSettings = DEFAULTS) -> bool:
    """Return whether to flush now: once for each compaction, and never for a timer or in a read-only workspace."""
    if not settings.enabled or state.is_heartbeat or not state.can_write:
        return False
    if state.flushed_at is not None and state.flushed_at >= state.compactions:
        return False
    is_long = state.transcript_bytes >= settings.largest_transcript > 0
    is_full = 0 < flush_threshold(state.context_window, settings) <= state.total_tokens
    return is_long or is_full
