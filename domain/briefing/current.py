"""What somebody is at: pinned, lately changed, often used."""

from __future__ import annotations

DAY_MS = 86_400_000

PINNED = 1_000.0
FRESH = 100.0
A_DAY = 5.0
AN_ACCESS = 2.0
RECENT_DAYS = 7  # how long a decision is news
STALE_DAYS = 30  # after which a note that nobody touched is worth another look

CURRENT_TYPES = frozenset(
    {"problem", "preference", "deductive"}
)  # of any age; decisions while they are recent


def current_rank(*, pinned: bool, age_days: float, access_count: int) -> float:
    """
    The higher, the sooner it is named: a pin outweighs everything, a day of age two and a half accesses.

    Args:
        age_days: Since it was changed; the bonus of what is fresh never falls below 0.
    """
    return PINNED * pinned + max(0.0, FRESH - A_DAY * age_days) + AN_ACCESS * access_count


def is_current(content_type: str, age_days: float) -> bool:
    """Whether a document belongs to what somebody is at."""
    return content_type in CURRENT_TYPES or (content_type == "decision" and age_days <= RECENT_DAYS)


def is_stale(*, review_by: str | None, today: str, age_days: float) -> bool:
    """
    Whether a note is due: its day of review is over, or it has not been touched for 30 days.

    Args:
        review_by: An ISO 8601 day or moment; the day itself still counts as in time.
        today: The day, ``YYYY-MM-DD``.
    """
    if review_by:
        return review_by[: len(today)] < today
    return age_days > STALE_DAYS
