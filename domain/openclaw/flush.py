"""Flush of memory before compaction: the moment at which the agent is asked to save decisions and facts."""

from __future__ import annotations

RESERVE_TOKENS = 20_000
SOFT_TOKENS = 4_000
LARGEST_TRANSCRIPT = 2 << 20  # bytes; a longer transcript is flushed with any number of tokens
NO_REPLY = "NO_REPLY"


def flush_threshold(context_window: int, *, reserve_tokens: int = 0, compacts_at: int = 0) -> int:
    """
    Return the number of tokens from which on memory is flushed: `SOFT_TOKENS` before the compaction, never negative.

    Args:
        reserve_tokens: The room that the host keeps free, if it is more than `RESERVE_TOKENS`.
        compacts_at: The number of tokens at which the host compacts; 0 if it compacts at the reserve.
    """
    compaction = context_window - max(reserve_tokens, RESERVE_TOKENS)
    return max(0, min(compaction, compacts_at or compaction) - SOFT_TOKENS)


def is_flush_due(
    total_tokens: int,
    threshold: int,
    *,
    compactions: int = 0,
    flushed_at: int | None = None,
    transcript_bytes: int = 0,
) -> bool:
    """
    Return whether to flush now; once for each compaction.

    Args:
        threshold: See `flush_threshold`.
        flushed_at: The number of compactions at the last flush; None if there was none.
    """
    if flushed_at is not None and flushed_at >= compactions:
        return False
    return transcript_bytes >= LARGEST_TRANSCRIPT or 0 < threshold <= total_tokens
