"""When to look at what is being changed: not in the middle of it, and not only when it is over for good."""

from __future__ import annotations

from collections.abc import Collection

QUIET_S = 0.4  # without a change, and it is looked at
LONGEST_S = 2.0  # that something waits whose changes do not end


class Debounce:
    """
    Names that wait to be looked at. Times are seconds of a clock that only goes forward, given by the caller.

    Each name is due `QUIET_S` after its last change, or `LONGEST_S` after the first that was not looked at.
    """

    def __init__(self) -> None:
        self._waiting: dict[str, tuple[float, float]] = {}  # its first change and its last

    def touch(self, name: str, at_s: float) -> None:
        """*name* was changed; a time to come puts it off until then."""
        first, last = self._waiting.get(name, (at_s, at_s))
        self._waiting[name] = min(first, at_s), max(last, at_s)

    def keep(self, names: Collection[str]) -> None:
        """Forget all others."""
        self._waiting = {name: times for name, times in self._waiting.items() if name in names}

    def due(self, now_s: float) -> list[str]:
        """The names whose time has come, the longest waiting first; they wait no more."""
        names = [name for name in self._waiting if self._due_at(name) <= now_s]
        names.sort(key=lambda name: self._waiting[name])
        for name in names:
            del self._waiting[name]
        return names

    def left(self, now_s: float) -> float | None:
        """Seconds until the next one is due, zero if one is; ``None`` when nothing waits."""
        return min((max(0.0, self._due_at(name) - now_s) for name in self._waiting), default=None)

    def _due_at(self, name: str) -> float:
        first, last = self._waiting[name]
        return min(last + QUIET_S, first + LONGEST_S)
