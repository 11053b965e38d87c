"""Ranking signals of a document."""

from __future__ import annotations

import math

from clawmem.domain.documents.times import parse_iso
from clawmem.domain.retrieval.composite import Signals
from clawmem.domain.retrieval.confidence import stored_confidence
from clawmem.ports.records import Document

_DAY_MS = 86_400_000
_SAME_MOMENT_MS = 1000  # an access within this time of a change was caused by the change


def signals_of(relevance: float, document: Document, now_ms: int) -> Signals:
    """Return the signals of a document with this relevance; its age counts from when it was written."""
    return Signals(
        search=relevance,
        content_type=document.content_type,
        age_days=age_days(document.authored_at, now_ms),
        access_count=document.access_count,
        days_since_access=_since_access(document.last_accessed_at, now_ms),
        never_accessed=_never_accessed(document.last_accessed_at, document.modified_at),
        stored_confidence=stored_confidence(document),
        quality=document.quality_score,
        length=document.body_length,
        revisions=document.revision_count,
        duplicates=document.duplicate_count,
        pinned=document.is_pinned,
    )


def age_days(moment: str, now_ms: int) -> float:
    """Return the days between an ISO time and now; NaN if the time is invalid."""
    ms = parse_iso(moment)
    return math.nan if ms is None else (now_ms - ms) / _DAY_MS


def _since_access(moment: str | None, now_ms: int) -> float | None:
    return None if moment is None else age_days(moment, now_ms)


def _never_accessed(accessed: str | None, modified: str) -> bool:
    if accessed is None:
        return True
    at, changed = parse_iso(accessed), parse_iso(modified)
    return at is None or changed is None or abs(at - changed) <= _SAME_MOMENT_MS
