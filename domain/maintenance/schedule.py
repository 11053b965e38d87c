"""Schedule of the maintenance lanes, and the order in which they process memories."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from clawmem.ports.errors import ConfigError
from clawmem.ports.records import Document

MOST_QUESTIONS = 30  # within the last ten minutes; above, the system counts as busy
RECENT_MS = 10 * 60_000
LEASE_MS = 10 * 60_000


class LaneName(StrEnum):
    """The two lanes: frequent small tasks, and large tasks at quiet times."""

    LIGHT = "light", "light-consolidation", 5 * 60_000, 15_000, 15.0
    HEAVY = "heavy", "heavy-maintenance", 30 * 60_000, 30_000, 30.0

    lease: str  # that the worker of the lane holds
    interval_ms: int  # default pause between two ticks
    least_interval_ms: int  # that can be configured
    drain_s: float  # time to wait for the end of a tick when the lane is stopped

    def __new__(
        cls, value: str, lease: str, interval_ms: int, least_interval_ms: int, drain_s: float
    ) -> Self:
        lane = str.__new__(cls, value)
        lane._value_, lane.lease, lane.drain_s = value, lease, drain_s
        lane.interval_ms, lane.least_interval_ms = interval_ms, least_interval_ms
        return lane


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
            if hour is not None and not 0 <= hour < 24:
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


# -- selection -----------------------------------------------------------------------------------------

STALE_FIRST = "stale-first"
NEWEST_FIRST = "newest-first"
SURPRISAL = "surprisal"
SURPRISAL_FALLBACK = "surprisal-fallback-stale"
NEIGHBOURS = 5  # nearest neighbours whose mean distance measures surprisal
LEAST_SURPRISAL = 0.001  # at or below, the memory is a copy of its neighbours
LIGHT_LIMIT = 50
HEAVY_LIMIT = 100


def stale_first(documents: Iterable[Document], recalled_at: Mapping[int, str], limit: int) -> list[Document]:
    """
    Return documents by collection, then by last use, oldest first, then by time of writing.

    The last use is the last recall, without one the last access, without both the time of writing.

    Args:
        recalled_at: Time of the last recall by document id; may be empty.
        limit: Maximum number of documents; none if below 1.
    """
    by_use = sorted(
        documents,
        key=lambda document: (
            document.collection,
            recalled_at.get(document.id) or document.last_accessed_at or document.authored_at,
            document.authored_at,
            document.id,
        ),
    )
    return by_use[: max(limit, 0)]


def newest_first(documents: Iterable[Document], limit: int) -> list[Document]:
    """Return at most *limit* documents, last written first, then highest id first; none if *limit* is below 1."""
    newest = sorted(documents, key=lambda document: (document.authored_at, document.id), reverse=True)
    return newest[: max(limit, 0)]


def surprising_first(distances: Mapping[int, Sequence[float]], limit: int) -> list[int]:
    """
    Return ids by mean distance to the five nearest neighbours, largest first, then by id.

    The result is empty if fewer than six ids have distances. With fewer than five neighbours, the mean is over those.

    Args:
        distances: Cosine distances to the nearest neighbours, by id.
        limit: Maximum number of ids; none if below 1.
    """
    if len(distances) <= NEIGHBOURS:
        return []
    means = {number: sum(near) / len(near) for number, near in distances.items() if near}
    surprising = [number for number, mean in means.items() if mean > LEAST_SURPRISAL]
    return sorted(surprising, key=lambda number: (-means[number], number))[: max(limit, 0)]
