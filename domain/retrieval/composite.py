"""
The ranking policy `published`: the composite formula exactly as its authors published it.

It is available as an option and for comparison. It is not the default, because on judged questions its metadata
outweighs relevance (see `calibrated`).
"""

import math
from typing import NamedTuple

from clawmem.domain.documents.times import parse_iso
from clawmem.domain.retrieval.confidence import blend_stored, computed_confidence, stored_confidence
from clawmem.domain.retrieval.recency import recency
from clawmem.ports.records import Document

_DAY_MS = 86_400_000
_SAME_MOMENT_MS = 1000  # an access within this time of a change was caused by the change


class Signals(NamedTuple):
    """
    Inputs to the ranking of one matching document. The defaults are the neutral values.

    Ages are days before the question, NaN without a readable date. ``days_since_access`` is ``None`` if no access is
    known. ``never_accessed`` means that the recorded access is only the time stamp of a change. ``search``,
    ``stored_confidence`` and ``quality`` are in [0, 1]. ``length`` counts characters. ``revisions`` and
    ``duplicates`` include the document itself, so 1 means none.
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


def published(signals: Signals, *, recency_intent: bool = False, co_activations: int = 0) -> float:
    """
    Return the score of one document by the published formula, step by step in its order.

    The weighted base is multiplied by quality (0.7 to 1.3), length (1 down to 0.3) and frequency (up to 1.1). A pinned
    document gets 0.3 more, capped at 1.0. Co-activation multiplies by up to 1.15, so scores above 1.0 are possible.

    Args:
        signals: Inputs of the document.
        recency_intent: The question asks for recent information (`has_recency_intent`).
        co_activations: From `co_activation_counts`, for the order of these scores without co-activation.

    Returns:
        The score; 0.0 if a signal makes it NaN or infinite, pinned or not.
    """
    for_search, for_recency, for_confidence = (0.10, 0.70, 0.20) if recency_intent else (0.50, 0.25, 0.25)
    kind, age, use = signals.content_type, signals.age_days, signals.access_count
    computed = computed_confidence(
        kind,
        age,
        access_count=use,
        days_since_access=signals.days_since_access,
        never_accessed=signals.never_accessed,
    )
    score = (
        for_search * signals.search
        + for_recency * recency(kind, age, access_count=use, days_since_access=signals.days_since_access)
        + for_confidence * blend_stored(computed, signals.stored_confidence)
    )
    score *= 0.7 + 0.6 * signals.quality
    # 1.0 up to 500 characters, then falling with the logarithm of the length.
    score *= max(0.3, 1 / (1 + 0.5 * math.log2(max(signals.length / 500, 1))))
    score *= 1 + frequency_boost(signals.revisions, signals.duplicates)
    if not math.isfinite(score):
        return 0.0
    if signals.pinned:
        score = min(1.0, score + 0.3)
    return score * (1 + min(max(0, co_activations) / 10, 0.15))


def frequency_boost(revisions: int, duplicates: int) -> float:
    """
    Return ``0.03 ln(1 + 2 (revisions - 1) + (duplicates - 1))``, the bonus for repetition, in [0, 0.10].

    Both counts include the document itself: 1 and 1 give 0, and so do lower values.
    """
    signal = 2 * (revisions - 1) + (duplicates - 1)
    return min(0.10, 0.03 * math.log1p(signal)) if signal > 0 else 0.0


def signals_of(relevance: float, document: Document, now_ms: int) -> Signals:
    """Return the signals of a document with this relevance; its age counts from when it was written."""
    accessed, changed = parse_iso(document.last_accessed_at or ""), parse_iso(document.modified_at)
    accessed_after = 0 if accessed is None or changed is None else accessed - changed
    return Signals(
        search=relevance,
        content_type=document.content_type,
        age_days=age_days(document.authored_at, now_ms),
        access_count=document.access_count,
        days_since_access=None if (at := document.last_accessed_at) is None else age_days(at, now_ms),
        never_accessed=abs(accessed_after) <= _SAME_MOMENT_MS,
        stored_confidence=stored_confidence(document),
        length=document.body_length,
        revisions=document.revision_count,
        duplicates=document.duplicate_count,
        pinned=document.is_pinned,
    )


def age_days(moment: str, now_ms: int) -> float:
    """Return the days between an ISO time and now; NaN if the time is invalid."""
    ms = parse_iso(moment)
    return math.nan if ms is None else (now_ms - ms) / _DAY_MS
