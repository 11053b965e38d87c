"""Time limit of the vectors that are made without a request."""

from __future__ import annotations

QUICK_MS = 60_000  # a person waits a minute for a folder to be read, but not an hour


class EmbeddingPace:
    """
    The pace of a run that embeds texts in batches.

    The first batch does not count, because a model is loaded in its time.
    """

    def __init__(self, began_ms: int) -> None:
        self._began_ms = began_ms
        self._first: tuple[int, int] | None = None

    def is_quick(self, done: int, total: int, now_ms: int) -> bool:
        """Whether the run, which has done *done* texts of *total*, ends within `QUICK_MS` at its pace."""
        left_ms = self._began_ms + QUICK_MS - now_ms
        if self._first is None:
            self._first = done, now_ms
            return left_ms >= 0
        first_done, first_ms = self._first
        return (now_ms - first_ms) * (total - done) <= left_ms * (done - first_done)
