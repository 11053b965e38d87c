"""Recency of a document by content type, age and use."""

from __future__ import annotations

import math

FOREVER = math.inf
DEFAULT_HALF_LIFE_DAYS = 60.0

# Decisions, preferences and antipatterns do not become stale with age; records of ongoing work do.
HALF_LIFE_DAYS = {
    "handoff": 30.0,
    "progress": 45.0,
    "conversation": 45.0,
    "problem": 60.0,
    "milestone": 60.0,
    "note": 60.0,
    "observation": 60.0,
    "research": 90.0,
    "project": 120.0,
    "decision": FOREVER,
    "deductive": FOREVER,
    "preference": FOREVER,
    "hub": FOREVER,
    "antipattern": FOREVER,
}


def half_life_days(content_type: str) -> float:
    """Return the half life of documents of this type in days: ``inf`` if they do not age, 60 if the type is unknown."""
    return HALF_LIFE_DAYS.get(content_type, DEFAULT_HALF_LIFE_DAYS)


def recency(
    content_type: str,
    age_days: float,
    *,
    access_count: int = 0,
    days_since_access: float | None = None,
) -> float:
    """
    Return the recency of a document, in [0, 1]: ``0.5 ** (age / half life)``.

    Use extends the half life to ``min(3 H, H + 0.3 H ln(1 + n f))`` for *n* accesses and
    ``f = max(0, 1 - days_since_access / 90)``. Without accesses it is that of the type.

    Args:
        content_type: Type of the document.
        age_days: Days since the document was written. Zero and negative (a date in the future) give 1.0, NaN (no
            readable date) gives 0.5.
        access_count: A negative count means none.
        days_since_access: ``None`` or NaN if unknown: then ``f = 1``. Negative counts as 0.

    Returns:
        1.0 for types that do not age, regardless of the date; exactly 0.5 at one half life.
    """
    half_life = half_life_days(content_type)
    if half_life == FOREVER:
        return 1.0
    is_known = days_since_access is not None and not math.isnan(days_since_access)
    freshness = min(1.0, max(0.0, 1.0 - (days_since_access or 0.0) / 90)) if is_known else 1.0
    extension = 1.0 + 0.3 * math.log1p(max(0, access_count) * freshness)
    return decay(age_days, half_life * min(3.0, extension))


def decay(age_days: float, half_life: float) -> float:
    """Return ``0.5 ** (age_days / half_life)``, with 1.0 for a future date and 0.5 for an unknown one (NaN)."""
    if math.isnan(age_days):
        return 0.5
    return 1.0 if age_days <= 0 else float(0.5 ** (age_days / half_life))
