"""Whether what was noted several times is still being noted."""

from __future__ import annotations

from enum import StrEnum

from clawmem.domain.briefing.current import DAY_MS

NEW_DAYS, RECENT_DAYS, QUIET_DAYS, STALE_DAYS = 7, 14, 30, 60
OFTEN = 4


class Trend(StrEnum):
    """How often, and how lately."""

    NEW = "new"
    STRENGTHENING = "strengthening"
    STABLE = "stable"
    WEAKENING = "weakening"
    STALE = "stale"


def trend(first_ms: int, last_ms: int, times: int, now_ms: int) -> Trend:
    """
    What becomes of something that was noted *times* times.

    First noted less than 7 days ago it is new; last noted more than 60 days ago it is stale, more than 30 it weakens;
    noted four times or more, and within the last 14 days, it grows stronger; else it is stable.
    """
    silent_days = (now_ms - last_ms) / DAY_MS
    if now_ms - first_ms < NEW_DAYS * DAY_MS:
        return Trend.NEW
    if silent_days > QUIET_DAYS:
        return Trend.STALE if silent_days > STALE_DAYS else Trend.WEAKENING
    is_stronger = times >= OFTEN and silent_days < RECENT_DAYS
    return Trend.STRENGTHENING if is_stronger else Trend.STABLE
