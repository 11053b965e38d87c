"""Confidence in a document: the baseline of its type, adjusted by age, use and stored evidence."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from clawmem.domain.retrieval.recency import recency
from clawmem.domain.security.origin import is_verified

if TYPE_CHECKING:
    from clawmem.ports.records import Document

BASELINE = {
    "decision": 0.85,
    "deductive": 0.85,
    "preference": 0.80,
    "hub": 0.80,
    "problem": 0.75,
    "research": 0.70,
    "milestone": 0.70,
    "project": 0.65,
    "handoff": 0.60,
    "conversation": 0.55,
    "progress": 0.50,
    "note": 0.50,
    "observation": 0.50,
}

# Types that stay valid without being read again.
ATTENTION_EXEMPT = frozenset({"decision", "hub", "research", "antipattern", "deductive", "preference"})


def baseline(content_type: str) -> float:
    """Return the initial confidence of documents of this type, in [0, 1]; 0.5 for an unknown type."""
    return BASELINE.get(content_type, 0.50)


def stored_confidence(document: Document) -> float:
    """Return the recorded confidence; of a file of others no more than its type promises, whatever its front matter says."""
    if document.stamp is None or is_verified(document.origin):
        return document.confidence
    return min(document.confidence, baseline(document.content_type))


def computed_confidence(
    content_type: str,
    age_days: float,
    *,
    access_count: int = 0,
    days_since_access: float | None = None,
    never_accessed: bool = False,
) -> float:
    """
    Return the confidence derived from type, age and use, in [0, 1].

    It is ``min(1, baseline * recency * min(1.5, 1 + 0.1 log2(1 + accesses)) * attention)``. The recency uses the plain
    half life, so that use is not counted twice. The attention is ``max(0.5, 0.95 ** weeks since the last access)``, and
    1.0 for the six exempt types and without an access in the past.

    Args:
        content_type: Type of the document.
        age_days: As for `recency`: a future date gives 1.0, NaN 0.5.
        access_count: A negative count means none.
        days_since_access: ``None`` if unknown.
        never_accessed: The recorded access is not a real one (`was_never_accessed`), so attention is ignored.
    """
    reinforcement = min(1.5, 1 + 0.1 * math.log2(1 + max(0, access_count)))
    attention = 1.0
    if (
        days_since_access
        and days_since_access > 0
        and content_type not in ATTENTION_EXEMPT
        and not never_accessed
    ):
        attention = max(0.5, 0.95 ** (days_since_access / 7))
    return min(1.0, baseline(content_type) * recency(content_type, age_days) * reinforcement * attention)


def blend_stored(computed: float, stored: float) -> float:
    """
    Return the computed confidence adjusted by stored evidence: ``min(1, computed * (stored / 0.5 + 1) / 2)``.

    A stored 0.5 (or NaN: nothing stored) leaves it unchanged, 0 halves it, 1 raises it by half. Stored values outside
    [0, 1] are clamped.
    """
    if math.isnan(stored):
        return computed
    evidence = min(1.0, max(0.0, stored)) / 0.5
    return min(1.0, computed * (evidence + 1) / 2)
