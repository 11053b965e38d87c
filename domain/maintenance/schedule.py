"""Schedule of the maintenance lanes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from clawmem.ports.errors import ConfigError

HOURS = 24
MOST_QUESTIONS = 30  # within the last ten minutes; above, the system counts as busy
RECENT_MS = 10 * 60_000
LEASE_MS = 10 * 60_000


class LaneName(StrEnum):
    """The two lanes: frequent small tasks, and large tasks at quiet times."""

    LIGHT = "light"
    HEAVY = "heavy"

    @property
    def lease(self) -> str:
        """Name of the lease that the worker of the lane holds."""
        return "heavy-maintenance" if self is LaneName.HEAVY else "light-consolidation"

    @property
    def interval_ms(self) -> int:
        """Default pause between two ticks."""
        return 30 * 60_000 if self is LaneName.HEAVY else 5 * 60_000

    @property
    def least_interval_ms(self) -> int:
        """Shortest pause that can be configured."""
        return 30_000 if self is LaneName.HEAVY else 15_000

    @property
    def drain_s(self) -> float:
        """Time to wait for the end of a tick when the lane is stopped."""
        return 30.0 if self is LaneName.HEAVY else 15.0


class SkipReason(StrEnum):
    """Reasons for a lane to skip a tick."""

    WINDOW = "outside_window"
    BUSY = "query_rate_high"
    LEASE = "lease_unavailable"


@dataclass(frozen=True, slots=True)
class Window:
    """
    Hours of the local day in which the heavy lane works: from *start* until before *end*.

    The window spans midnight if *start* is after *end*. It is empty if both are equal and
    unlimited if one is missing.

    Raises:
        ConfigError: an hour outside 0 to 23.
    """

    start: int | None = None
    end: int | None = None

    def __post_init__(self) -> None:
        for hour in (self.start, self.end):
            if hour is not None and not 0 <= hour < HOURS:
                raise ConfigError(
                    f"{hour} is not an hour of the day. Set the window of the heavy lane to hours from 0 to 23."
                )

    def holds(self, hour: int) -> bool:
        """Whether *hour*, 0 to 23, is within the window."""
        if self.start is None or self.end is None:
            return True
        if self.start <= self.end:
            return self.start <= hour < self.end
        return hour >= self.start or hour < self.end


def gate(window: Window, hour: int, questions: int, most: int = MOST_QUESTIONS) -> SkipReason | None:
    """
    Return why the heavy lane may not work now; ``None`` if it may.

    Args:
        hour: Hour of the local day.
        questions: Number of questions within `RECENT_MS`; more than *most* block the lane.
    """
    if not window.holds(hour):
        return SkipReason.WINDOW
    return SkipReason.BUSY if questions > most else None
