"""
The ranking policy `calibrated`, the default: relevance first, metadata for near-ties.

A document that matches clearly better stays ahead, whatever is known about the others; only a question
that asks for what is recent, or for what holds now, lets time outweigh a moderate difference in relevance,
and only among documents that match at all.
"""

from __future__ import annotations

import math
from functools import lru_cache

from clawmem.domain.retrieval.composite import MOST_FREQUENCY, Signals, frequency_boost
from clawmem.domain.retrieval.confidence import baseline, blend_stored
from clawmem.domain.retrieval.recency import FOREVER, decay, half_life_days, recency

# The largest each term can be. Together they span 0.060, from -0.020 to +0.040: two documents whose
# relevance differs by more than 0.06 therefore never change places. Raise one only by lowering another.
CONFIDENCE = 0.012
QUALITY = 0.004
FREQUENCY = 0.004
RECENCY = 0.004
PIN = 0.016

INTENDED_RECENCY = 0.25  # asked for, so it may move a document past better matches
INTENDED_HALF_LIFE_DAYS = 60.0  # for all types: the question is about time, not about what goes stale
CURRENT_RECENCY = 0.20  # what holds now may be old, but of two that match the younger one knows better
CURRENT_HALF_LIFE_DAYS = 180.0
COMPARABLE = 0.4  # relevance from which time counts in full; below it counts by its share of this

_ROUNDING = 1e-9  # more than a sum of six is off by


def calibrated(
    relevance: float, signals: Signals, *, recency_intent: bool = False, current_intent: bool = False
) -> float:
    """
    Score one document in [0, 1]: its relevance, moved a little by what is known about it.

    Never falls when relevance rises. Without an intent the metadata moves it by -0.020 to +0.040
    at most, and a relevance more than 0.06 higher always wins. The clamp to 1.0 can make the best matches
    equal: sort by `sort_score`, show this.

    Args:
        relevance: The fused score of this query, scaled to [0, 1]; values outside count as the nearer end,
            NaN as 0.
        signals: ``search`` and ``length`` are not read: relevance already says how well, and a snippet
            of the matching fragment costs the same whatever the length.
        recency_intent: The question asks for what is recent (`TimeIntent.RECENT`).
        current_intent: It asks for what holds now (`TimeIntent.CURRENT`); of both, the former counts.
    """
    return _unit(sort_score(relevance, signals, recency_intent=recency_intent, current_intent=current_intent))


def sort_score(
    relevance: float, signals: Signals, *, recency_intent: bool = False, current_intent: bool = False
) -> float:
    """The sum of `parts` before the clamp: strictly rising with relevance, so that it can order the best."""
    terms = parts(relevance, signals, recency_intent=recency_intent, current_intent=current_intent)
    return math.fsum(terms.values())


def parts(
    relevance: float, signals: Signals, *, recency_intent: bool = False, current_intent: bool = False
) -> dict[str, float]:
    """
    The terms of the score by name, for an explanation; they sum to `sort_score`.

    A neutral document has 0 in every term but ``relevance``: a note one half life old with stored
    confidence and quality 0.5, one revision, no duplicate, not pinned. With *recency_intent* the term
    ``recency`` runs from 0 to 0.25 instead of around zero, with *current_intent* from 0 to 0.20; in full
    only from a relevance of 0.4 on, so that nothing is an answer merely by being new.

    Returns:
        ``relevance``, ``confidence``, ``quality``, ``frequency``, ``recency``, ``pin``, in this order.
    """
    match = _unit(relevance)
    return {
        "relevance": match,
        "confidence": _confidence(signals.content_type, signals.stored_confidence),
        "quality": QUALITY * _centred(signals.quality),
        "frequency": _frequency(signals.revisions, signals.duplicates),
        "recency": _recency(match, signals, recency_intent, current_intent),
        "pin": PIN * match if signals.pinned else 0.0,
    }


def reach(*, recency_intent: bool = False, current_intent: bool = False) -> tuple[float, float]:
    """How far a `sort_score` can lie below a relevance in [0, 1], and how far above, whatever is known of a document."""
    by_age = INTENDED_RECENCY if recency_intent else CURRENT_RECENCY if current_intent else RECENCY
    loss = CONFIDENCE + QUALITY + (0.0 if recency_intent or current_intent else RECENCY)
    return loss + _ROUNDING, CONFIDENCE + QUALITY + FREQUENCY + by_age + PIN + _ROUNDING


# Of a hundred candidates most have the same few values.
@lru_cache(1024)
def _confidence(content_type: str, stored: float) -> float:
    return CONFIDENCE * _centred(blend_stored(baseline(content_type), stored))


@lru_cache(1024)
def _frequency(revisions: int, duplicates: int) -> float:
    return FREQUENCY * frequency_boost(revisions, duplicates) / MOST_FREQUENCY


def _recency(match: float, signals: Signals, recent: bool, current: bool) -> float:
    comparable = min(1.0, match / COMPARABLE)
    if recent:
        return INTENDED_RECENCY * comparable * decay(signals.age_days, INTENDED_HALF_LIFE_DAYS)
    if current:
        return CURRENT_RECENCY * comparable * decay(signals.age_days, CURRENT_HALF_LIFE_DAYS)
    return RECENCY * _centred(_freshness(signals))


def _freshness(signals: Signals) -> float:
    if half_life_days(signals.content_type) == FOREVER:
        return 0.5  # age says nothing about it, for or against
    return recency(
        signals.content_type,
        signals.age_days,
        access_count=signals.access_count,
        days_since_access=signals.days_since_access,
    )


def _centred(share: float) -> float:
    """[0, 1] to [-1, 1]; unknown (NaN) is neutral."""
    return 0.0 if math.isnan(share) else 2 * _unit(share) - 1


def _unit(value: float) -> float:
    return min(1.0, value) if value > 0.0 else 0.0  # NaN is not above zero
