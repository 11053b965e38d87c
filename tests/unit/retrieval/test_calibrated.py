from __future__ import annotations

import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.retrieval.calibrated import parts
from clawmem.domain.retrieval.composite import Signals

NEUTRAL = Signals(search=0.0, content_type="note", age_days=60)

shares = st.floats(0, 1)
intents = st.fixed_dictionaries({"recency_intent": st.booleans()})
any_signals = st.builds(
    Signals,
    search=shares,
    content_type=st.sampled_from(["note", "decision", "handoff", "hub", "antipattern", "recipe"]),
    age_days=st.floats(-10, 1e4) | st.just(math.nan),
    access_count=st.integers(0, 1000),
    days_since_access=st.one_of(st.none(), st.floats(0, 1e4)),
    stored_confidence=shares,
    quality=shares,
    length=st.integers(0, 10**6),
    revisions=st.integers(1, 1000),
    duplicates=st.integers(1, 1000),
    pinned=st.booleans(),
)


def sort_score(*arguments: Any, **intent: bool) -> float:
    return math.fsum(parts(*arguments, **intent).values())


def calibrated(*arguments: Any, **intent: bool) -> float:
    return min(1.0, max(0.0, sort_score(*arguments, **intent)))


def test_a_pin_decides_between_notes_that_match_alike() -> None:
    """A pin weighs more than six hundredths of relevance, and less than a fifth."""
    pinned = sort_score(0.8, NEUTRAL._replace(pinned=True))

    assert sort_score(0.86, NEUTRAL) < pinned < sort_score(1.0, NEUTRAL)


@given(shares)
def test_neutral_document_scores_its_relevance(relevance: float) -> None:
    """Neutral metadata leaves relevance as it is."""
    assert calibrated(relevance, NEUTRAL) == relevance


@given(shares, shares, any_signals, intents)
def test_score_never_falls_when_relevance_rises(
    one: float, other: float, signals: Signals, intent: dict[str, bool]
) -> None:
    """The shown score is monotone in relevance; the sort score is too, before the clamp."""
    low, high = sorted((one, other))

    assert calibrated(low, signals, **intent) <= calibrated(high, signals, **intent)
    assert sort_score(low, signals, **intent) <= sort_score(high, signals, **intent)


@given(st.floats(0, 0.877), any_signals, any_signals)
def test_clear_relevance_is_never_overturned(relevance: float, one: Signals, other: Signals) -> None:
    """Without recency intent a match more than 0.122 better wins, whatever the metadata."""
    assert calibrated(relevance, one) < calibrated(relevance + 0.123, other)


@given(shares, any_signals)
def test_metadata_is_bounded(relevance: float, signals: Signals) -> None:
    """Without an intent the metadata moves a score by at most 0.106 up and 0.016 down."""
    moved = sort_score(relevance, signals) - relevance

    assert -0.016 - 1e-12 <= moved <= 0.106 + 1e-12


@given(shares, any_signals, intents)
def test_parts_explain_the_score(relevance: float, signals: Signals, intent: dict[str, bool]) -> None:
    """The named terms add up to the score, clamped to [0, 1]."""
    terms = parts(relevance, signals, **intent)
    total = math.fsum(terms.values())

    assert list(terms) == ["relevance", "recency", "pin"]
    assert calibrated(relevance, signals, **intent) == min(1.0, max(0.0, total))
