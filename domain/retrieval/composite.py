"""
The ranking policy `published`: the composite formula exactly as its authors published it. On judged questions its
metadata outweighs relevance, so it is an option.
"""

import math
from typing import NamedTuple

from clawmem.domain.documents.times import DAY_MS, parse_iso
from clawmem.domain.security.origin import is_verified
from clawmem.ports.records import Document

FOREVER = math.inf
# Half life in days, and initial confidence. Decisions, preferences and antipatterns do not become stale with age; records
# of ongoing work do.
TYPES = {
    "antipattern": (FOREVER, 0.50),
    "conversation": (45.0, 0.55),
    "decision": (FOREVER, 0.85),
    "deductive": (FOREVER, 0.85),
    "handoff": (30.0, 0.60),
    "hub": (FOREVER, 0.80),
    "milestone": (60.0, 0.70),
    "preference": (FOREVER, 0.80),
    "problem": (60.0, 0.75),
    "progress": (45.0, 0.50),
    "project": (120.0, 0.65),
    "research": (90.0, 0.70),
}
OTHER_TYPE = 60.0, 0.50
# Types that stay valid without being read again.
ATTENTION_EXEMPT = frozenset({"decision", "hub", "research", "antipattern", "deductive", "preference"})


def baseline(content_type: str) -> float:
    """Return the initial confidence of documents of this type, in [0, 1]; 0.5 if nothing else is known."""
    return TYPES.get(content_type, OTHER_TYPE)[1]


def decay(age_days: float, half_life: float) -> float:
    """Return ``0.5 ** (age_days / half_life)``, with 1.0 for a future date and 0.5 for an unknown one (NaN)."""
    if math.isnan(age_days):
        return 0.5
    return 1.0 if age_days <= 0 else float(0.5 ** (age_days / half_life))


def recency(
    content_type: str, age_days: float, *, access_count: int = 0, days_since_access: float | None = None
) -> float:
    """
    Return the recency of a document, in [0, 1]: ``0.5 ** (age / half life)``; 1.0 for types that do not age.

    Use extends the half life to ``min(3 H, H + 0.3 H ln(1 + n f))`` for *n* accesses and ``f = max(0, 1 -
    days_since_access / 90)``, 1 if that is unknown (``None`` or NaN). A date in the future gives 1.0, no readable date
    (an age of NaN) 0.5.
    """
    half_life, _ = TYPES.get(content_type, OTHER_TYPE)
    if half_life == FOREVER:
        return 1.0
    is_known = days_since_access is not None and not math.isnan(days_since_access)
    freshness = min(1.0, max(0.0, 1.0 - (days_since_access or 0.0) / 90)) if is_known else 1.0
    extension = 1.0 + 0.3 * math.log1p(max(0, access_count) * freshness)
    return decay(age_days, half_life * min(3.0, extension))


class Signals(NamedTuple):
    """
    Inputs to the ranking of one matching document. The defaults are the neutral values.

    Ages are days before the question, NaN without a readable date. ``never_accessed`` means that the recorded access is
    only the time stamp of a change. ``search``, ``stored_confidence`` and ``quality`` are in [0, 1]. ``length`` counts
    characters. ``revisions`` and ``duplicates`` include the document itself, so 1 means none.
    """

    search: float
    content_type: str
    age_days: float
    access_count: int = 0
    days_since_access: float | None = None
    never_accessed: bool = False
    stored_confidence: float = 0.5
    quality: float = 0.5
    length: int = 0
    revisions: int = 1
    duplicates: int = 1
    pinned: bool = False


def computed_confidence(signals: Signals) -> float:
    """
    Return the confidence derived from type, age, use and stored evidence, in [0, 1].

    It is ``min(1, baseline * recency * min(1.5, 1 + 0.1 log2(1 + accesses)) * attention)``. The recency uses the plain
    half life, so that use is not counted twice. The attention is ``max(0.5, 0.95 ** weeks since the last access)``, and
    1.0 for the six exempt types, without an access in the past, and if the document was never accessed. A stored
    confidence of 0.5 (or NaN: nothing stored) leaves it unchanged, 0 halves it, 1 raises it by half.
    """
    kind, since, stored = signals.content_type, signals.days_since_access, signals.stored_confidence
    reinforcement = min(1.5, 1 + 0.1 * math.log2(1 + max(0, signals.access_count)))
    attention = 1.0
    if since and since > 0 and not signals.never_accessed and kind not in ATTENTION_EXEMPT:
        attention = max(0.5, 0.95 ** (since / 7))
    computed = min(1.0, baseline(kind) * recency(kind, signals.age_days) * reinforcement * attention)
    return computed if math.isnan(stored) else min(1.0, computed * (0.5 + min(1.0, max(0.0, stored))))


def published(signals: Signals, *, recency_intent: bool = False, co_activations: int = 0) -> float:
    """
    Return the score of one document by the published formula, step by step in its order; 0.0 if it is not finite.

    The weighted base is multiplied by quality (0.7 to 1.3), length (1 down to 0.3) and frequency (up to 1.1). A pinned
    document gets 0.3 more, capped at 1.0. Co-activation multiplies by up to 1.15, so scores above 1.0 are possible.
    *recency_intent* tells whether the question asks for recent information (`has_recency_intent`).
    """
    for_search, for_recency, for_confidence = (0.10, 0.70, 0.20) if recency_intent else (0.50, 0.25, 0.25)
    kind, age, use = signals.content_type, signals.age_days, signals.access_count
    score = (
        for_search * signals.search
        + for_recency * recency(kind, age, access_count=use, days_since_access=signals.days_since_access)
        + for_confidence * computed_confidence(signals)
    )
    score *= 0.7 + 0.6 * signals.quality
    # 1.0 up to 500 characters, then falling with the logarithm of the length.
    score *= max(0.3, 1 / (1 + 0.5 * math.log2(max(signals.length / 500, 1))))
    # Both counts include the document itself: 1 and 1 add nothing.
    repetitions = 2 * (signals.revisions - 1) + signals.duplicates - 1
    score *= 1 + min(0.10, 0.03 * math.log1p(max(0, repetitions)))
    if not math.isfinite(score):
        return 0.0
    if signals.pinned:
        score = min(1.0, score + 0.3)
    return score * (1 + min(max(0, co_activations) / 10, 0.15))


def signals_of(relevance: float, document: Document, now_ms: int) -> Signals:
    """Return the signals of a document with this relevance; its age counts from when it was written."""
    accessed, changed = parse_iso(document.last_accessed_at or ""), parse_iso(document.modified_at)
    stored = document.confidence
    if document.stamp and not is_verified(document.origin):  # whatever the front matter of others says
        stored = min(stored, baseline(document.content_type))
    accessed_after = 0 if accessed is None or changed is None else accessed - changed
    return Signals(
        search=relevance,
        content_type=document.content_type,
        age_days=age_days(document.authored_at, now_ms),
        access_count=document.access_count,
        days_since_access=None if (at := document.last_accessed_at) is None else age_days(at, now_ms),
        never_accessed=abs(accessed_after) <= 1000,  # caused by the change
        stored_confidence=stored,
        length=document.body_length,
        revisions=document.revision_count,
        duplicates=document.duplicate_count,
        pinned=document.is_pinned,
    )


def age_days(moment: str, now_ms: int) -> float:
    """Return the days between an ISO time and now; NaN if the time is invalid."""
    ms = parse_iso(moment)
    return math.nan if ms is None else (now_ms - ms) / DAY_MS
