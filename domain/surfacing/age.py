"""Age labels for old memories."""

from __future__ import annotations

from clawmem.domain.documents.times import parse_iso

OLD_DAYS = 182  # half a year
YEAR_DAYS = 365

_DAY_MS = 86_400_000


def age_label(authored_at: str, now_ms: int) -> str:
    """
    Return an age label such as ``over 6 months old`` or ``over 2 years old``; empty for younger or undated texts.

    A surfaced block may be read again weeks later; a label with "over" is still true then.
    """
    authored_ms = parse_iso(authored_at)
    days = 0 if authored_ms is None else (now_ms - authored_ms) // _DAY_MS
    if days <= OLD_DAYS:
        return ""
    years = (days - 1) // YEAR_DAYS
    if not years:
        return "over 6 months old"
    return f"over {years} years old" if years > 1 else "over 1 year old"
