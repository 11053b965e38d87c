"""Trend of a repeated observation."""

from __future__ import annotations

from enum import StrEnum

from clawmem.domain.briefing.current import DAY_MS

NEW_DAYS, RECENT_DAYS, QUIET_DAYS, STALE_DAYS = 7, 14, 30, 60
OFTEN = 4


class Trend(StrEnum):
    """Trend of an observation by how often and how recently it was recorded."""

    NEW = "new"
    STRENGTHENING = "strengthening"
    STABLE = "stable"
    WEAKENING = "weakening"
    STALE = "stale"


def trend(first_ms: int, last_ms: int, times: int, now_ms: int) -> Trend:
    """
    Return the trend of an observation that was recorded *times* times.

    First recorded less than 7 days ago, it is new. Last recorded more than 60 days ago, it is stale; more than 30
    days ago, it is weakening. Recorded four times or more and within the last 14 days, it is strengthening. Otherwise
    it is stable.
    """
    silent_days = (now_ms - last_ms) / DAY_MS
    if now_ms - first_ms < NEW_DAYS * DAY_MS:
        return Trend.NEW
    if silent_days > QUIET_DAYS:
        return Trend.STALE if silent_days > STALE_DAYS else Trend.WEAKENING
    is_stronger = times >= OFTEN and silent_days < RECENT_DAYS
    return Trend.STRENGTHENING if is_stronger else Trend.STABLE
