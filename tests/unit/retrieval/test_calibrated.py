from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.retrieval.calibrated import calibrated, parts, sort_score
from clawmem.domain.retrieval.composite import Signals

NEUTRAL = Signals(search=0.0, content_type="note", age_days=60)

shares = st.floats(0, 1)
intents = st.fixed_dictionaries({"recency_intent": st.booleans(), "current_intent": st.booleans()})
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
# What decides most for and most against a document: the bound must hold exactly there.
BEST = NEUTRAL._replace(
    content_type="handoff",
    age_days=0,
    stored_confidence=1.0,
    quality=1.0,
    revisions=10**6,
    pinned=True,
)
WORST = NEUTRAL._replace(age_days=math.inf, stored_confidence=0.0, quality=0.0)


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


@given(st.floats(0, 0.939), any_signals, any_signals)
def test_clear_relevance_is_never_overturned(relevance: float, one: Signals, other: Signals) -> None:
    """Without recency intent a match more than 0.06 better wins, whatever the metadata."""
    assert calibrated(relevance, one) < calibrated(relevance + 0.061, other)


def test_clear_relevance_wins_at_the_extremes() -> None:
    """The best metadata of all does not lift a match over one 0.06 better with the worst."""
    for hundredth in range(94):
        relevance = hundredth / 100
        assert calibrated(relevance, BEST) < calibrated(relevance + 0.0601, WORST)


@given(shares, any_signals)
def test_metadata_is_bounded(relevance: float, signals: Signals) -> None:
    """Without an intent the metadata moves a score by at most 0.040 up and 0.020 down."""
    moved = sort_score(relevance, signals) - relevance

    assert -0.020 - 1e-12 <= moved <= 0.040 + 1e-12


@given(shares, any_signals, intents)
def test_parts_explain_the_score(relevance: float, signals: Signals, intent: dict[str, bool]) -> None:
    """The named terms add up to the score, clamped to [0, 1]."""
    terms = parts(relevance, signals, **intent)
    total = math.fsum(terms.values())

    assert list(terms) == ["relevance", "confidence", "quality", "frequency", "recency", "pin"]
    assert calibrated(relevance, signals, **intent) == min(1.0, max(0.0, total))


def test_pin_decides_among_comparable_matches_only() -> None:
    """A pin lifts a note over a match 0.01 better, not over one 0.03 better, and not out of nothing."""
    pinned = NEUTRAL._replace(pinned=True)

    assert calibrated(0.80, pinned) > calibrated(0.81, NEUTRAL)
    assert calibrated(0.80, pinned) < calibrated(0.83, NEUTRAL)
    assert calibrated(0.0, pinned) == 0.0


def test_contradicted_document_falls_behind_its_equal() -> None:
    """Of two equal matches the one with less stored confidence comes second, in every type."""
    for kind in ("note", "decision", "hub", "recipe"):
        trusted = NEUTRAL._replace(content_type=kind)
        assert calibrated(0.5, trusted._replace(stored_confidence=0.25)) < calibrated(0.5, trusted)


def test_age_is_neutral_where_it_says_nothing() -> None:
    """An ageless type and an unreadable date get nothing for age, neither way."""
    assert parts(0.5, NEUTRAL._replace(content_type="decision", age_days=9999))["recency"] == 0.0
    assert parts(0.5, NEUTRAL._replace(age_days=math.nan))["recency"] == 0.0


def test_age_counts_once() -> None:
    """Age moves the recency term and no other."""
    young, old = parts(0.5, NEUTRAL._replace(age_days=0)), parts(0.5, NEUTRAL._replace(age_days=999))

    assert {name for name in young if young[name] != old[name]} == {"recency"}


def test_declared_recency_outweighs_moderate_relevance() -> None:
    """Asked for what is recent, a fresh match beats an old one 0.2 better, in every type, not 0.3 better."""
    for kind in ("note", "decision", "hub"):
        fresh = NEUTRAL._replace(content_type=kind, age_days=0)
        old = NEUTRAL._replace(content_type=kind, age_days=3650)
        assert calibrated(0.5, fresh, recency_intent=True) > calibrated(0.7, old, recency_intent=True)
        assert calibrated(0.5, fresh, recency_intent=True) < calibrated(0.8, old, recency_intent=True)


@pytest.mark.parametrize(
    ("intent", "most", "half_life_days"), [("recency_intent", 0.25, 60), ("current_intent", 0.20, 180)]
)
def test_declared_intent_halves_with_age(intent: str, most: float, half_life_days: int) -> None:
    """The term has its full height today and half of it after exactly one half life."""
    today, later = NEUTRAL._replace(age_days=0), NEUTRAL._replace(age_days=half_life_days)

    assert parts(0.5, today, **{intent: True})["recency"] == most
    assert parts(0.5, later, **{intent: True})["recency"] == most / 2


@pytest.mark.parametrize("intent", ["recency_intent", "current_intent"])
def test_nothing_is_an_answer_by_being_new(intent: str) -> None:
    """What hardly matches gains next to nothing by its age, what does not match gains nothing."""
    fresh = NEUTRAL._replace(age_days=0)

    assert calibrated(0.0, fresh, **{intent: True}) == 0.0
    assert calibrated(0.05, fresh, **{intent: True}) < calibrated(0.1, WORST, **{intent: True})
    assert (
        parts(0.2, fresh, **{intent: True})["recency"] == parts(0.4, fresh, **{intent: True})["recency"] / 2
    )


def test_of_two_intents_recency_counts() -> None:
    """A question that asks for the latest of what holds now is one that asks for the latest."""
    aged = NEUTRAL._replace(age_days=90)

    both = parts(0.5, aged, recency_intent=True, current_intent=True)
    assert both == parts(0.5, aged, recency_intent=True) != parts(0.5, aged, current_intent=True)


def test_best_matches_are_ordered_behind_the_clamp() -> None:
    """Two scores clamped to 1.0 still sort by what made them."""
    pinned = NEUTRAL._replace(pinned=True)

    assert calibrated(1.0, pinned) == calibrated(1.0, NEUTRAL) == 1.0
    assert sort_score(1.0, pinned) > sort_score(1.0, NEUTRAL)


@pytest.mark.parametrize(("given_relevance", "used"), [(math.nan, 0.0), (-0.1, 0.0), (1.0000001, 1.0)])
def test_relevance_outside_its_range(given_relevance: float, used: float) -> None:
    """Relevance beyond its ends counts as the nearer end, NaN as none."""
    assert calibrated(given_relevance, NEUTRAL) == used


def test_length_and_raw_search_score_are_not_read() -> None:
    """A long document is not punished, and the raw search score has no second say."""
    assert parts(0.5, NEUTRAL._replace(length=10**6, search=1.0)) == parts(0.5, NEUTRAL)
