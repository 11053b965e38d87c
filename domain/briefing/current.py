"""Ranking of current documents: pinned, recently changed, often accessed."""

from __future__ import annotations

PINNED = 1_000.0
FRESH = 100.0
A_DAY = 5.0
AN_ACCESS = 2.0
RECENT_DAYS = 7  # age up to which a decision counts as current
STALE_DAYS = 30  # idle time after which a note is due for review

# Current at any age; decisions only while they are recent.
CURRENT_TYPES = frozenset({"problem", "preference", "deductive"})


def current_rank(*, pinned: bool, age_days: float, access_count: int) -> float:
    """
    Return the rank of a document; a pin outweighs everything, a day of age costs as much as 2.5 accesses add.

    Args:
        age_days: Days since the last change. The freshness bonus never falls below 0.
    """
    return PINNED * pinned + max(0.0, FRESH - A_DAY * age_days) + AN_ACCESS * access_count


def is_current(content_type: str, age_days: float) -> bool:
    """Whether a document of *content_type* belongs to the current work."""
    return content_type in CURRENT_TYPES or (content_type == "decision" and age_days <= RECENT_DAYS)


def is_stale(*, review_by: str | None, today: str, idle_days: float) -> bool:
    """
    Whether a note is due for review: its review day has passed or, without one, it was idle for over 30 days.

    Args:
        idle_days: As by `clawmem.domain.lifecycle.policy.idle_days`.
        review_by: An ISO 8601 day or time. The note is not yet due on that day.
        today: The current day, ``YYYY-MM-DD``.
    """
    if review_by:
        return review_by[: len(today)] < today
    return idle_days > STALE_DAYS
