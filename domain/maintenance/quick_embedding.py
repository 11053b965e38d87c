"""Time limit of the vectors that are made without a request."""

from __future__ import annotations

QUICK_MS = 60_000  # a person waits a minute for a folder to be read, but not an hour


def is_quick(done: int, total: int, elapsed_ms: int) -> bool:
    """Whether *total* texts take at most `QUICK_MS` at the pace at which *done* of them took *elapsed_ms*."""
    return elapsed_ms * total <= QUICK_MS * done
