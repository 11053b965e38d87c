"""When a lane of upkeep may work."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from clawmem.ports.errors import ConfigError

HOURS = 24
MOST_QUESTIONS = 30  # asked within the last ten minutes; above, somebody is at work
RECENT_MS = 10 * 60_000
LEASE_MS = 10 * 60_000


class LaneName(StrEnum):
    """The two lanes: small work often, large work at quiet times."""

    LIGHT = "light"
    HEAVY = "heavy"

    @property
    def lease(self) -> str:
        """What the lane's one worker holds."""
        return "heavy-maintenance" if self is LaneName.HEAVY else "light-consolidation"

    @property
    def interval_ms(self) -> int:
        """How long it rests between two ticks, unless the owner chose otherwise."""
        return 30 * 60_000 if self is LaneName.HEAVY else 5 * 60_000

    @property
    def least_interval_ms(self) -> int:
        """The shortest rest that can be chosen."""
        return 30_000 if self is LaneName.HEAVY else 15_000

    @property
    def drain_s(self) -> float:
        """For how long the end of a tick is waited for when the lane is stopped."""
        return 30.0 if self is LaneName.HEAVY else 15.0


class Skipped(StrEnum):
    """Why a lane did not work."""

    WINDOW = "outside_window"
    BUSY = "query_rate_high"
    LEASE = "lease_unavailable"


@dataclass(frozen=True, slots=True)
class Window:
    """
    The hours of the day, local ones, in which the heavy lane works: from *start* until before *end*, over midnight
    when *start* is the later one. Never when both are the same; always when one of them is missing.

    Raises:
        ConfigError: an hour that is none.
    """

    start: int | None = None
    end: int | None = None

    def __post_init__(self) -> None:
        for hour in (self.start, self.end):
            if hour is not None and not 0 <= hour < HOURS:
                raise ConfigError(f"{hour} is no hour of a day; the window of the heavy lane takes 0 to 23.")

    def holds(self, hour: int) -> bool:
        """Whether *hour*, 0 to 23, lies in it."""
        if self.start is None or self.end is None:
            return True
        if self.start <= self.end:
            return self.start <= hour < self.end
        return hour >= self.start or hour < self.end


ALWAYS = Window()


def gate(window: Window, hour: int, questions: int, most: int = MOST_QUESTIONS) -> Skipped | None:
    """
    Why the heavy lane may not work now; ``None`` when it may.

    Args:
        hour: Of the local day.
        questions: How many were asked within `RECENT_MS`; more than *most* are too many.
    """
    if not window.holds(hour):
        return Skipped.WINDOW
    return Skipped.BUSY if questions > most else None
