"""Debouncing of change events: a quiet period, with an upper bound on the delay."""

from __future__ import annotations

from collections.abc import Collection

QUIET_S = 0.4  # without a further change
LONGEST_S = 2.0  # delay under continuous changes


class Debounce:
    """
    Names with pending changes. Times are seconds of a monotonic clock, passed by the caller.

    A name is due `QUIET_S` after its last change, or `LONGEST_S` after its first pending change, if earlier.
    """

    def __init__(self) -> None:
        self._waiting: dict[str, tuple[float, float]] = {}  # time of the first pending and of the last change

    def touch(self, name: str, at_s: float) -> None:
        """Record a change of *name*; a time in the future postpones it until then."""
        first, last = self._waiting.get(name, (at_s, at_s))
        self._waiting[name] = min(first, at_s), max(last, at_s)

    def keep(self, names: Collection[str]) -> None:
        """Drop all pending names except *names*."""
        self._waiting = {name: times for name, times in self._waiting.items() if name in names}

    def due(self, now_s: float) -> list[str]:
        """Return the due names, longest pending first, and remove them."""
        names = [name for name in self._waiting if self._due_at(name) <= now_s]
        names.sort(key=lambda name: self._waiting[name])
        for name in names:
            del self._waiting[name]
        return names

    def left(self, now_s: float) -> float | None:
        """Return the seconds until the next name is due, zero if one is due now; ``None`` if none is pending."""
        return min((max(0.0, self._due_at(name) - now_s) for name in self._waiting), default=None)

    def _due_at(self, name: str) -> float:
        first, last = self._waiting[name]
        return min(last + QUIET_S, first + LONGEST_S)
