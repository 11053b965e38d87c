from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.retrieval.composite import Signals, frequency_boost, length_factor, published

EXAMPLE_A = Signals(
    search=0.80,
    content_type="note",
    age_days=30,
    access_count=3,
    days_since_access=10,
    quality=0.65,
    length=1000,
    revisions=3,
    duplicates=2,
)
EXAMPLE_B = Signals(
    search=0.62, content_type="decision", age_days=400, stored_confidence=0.9, quality=0.7, length=400
)
EXAMPLE_C = Signals(search=0.7, content_type="handoff", age_days=60, length=4000)


def test_worked_example_a() -> None:
    """The note of the worked example scores 0.61059, pinned 0.95559, and 0.53935 with recency intent."""
    assert published(EXAMPLE_A, co_activations=2) == pytest.approx(0.61059, abs=1e-4)
    assert published(EXAMPLE_A._replace(pinned=True), co_activations=2) == pytest.approx(0.95559, abs=1e-4)
    assert published(EXAMPLE_A, recency_intent=True) == pytest.approx(0.53935, abs=1e-4)


def test_worked_example_b() -> None:
    """The decision scores 0.9072, and 0.8057 once contradicted."""
    assert published(EXAMPLE_B) == pytest.approx(0.9072, abs=1e-4)
    assert published(EXAMPLE_B._replace(stored_confidence=0.25)) == pytest.approx(0.8057, abs=1e-4)


def test_worked_example_c() -> None:
    """The long, old handoff scores 0.18."""
    assert published(EXAMPLE_C) == pytest.approx(0.18, abs=1e-4)


def test_pin_caps_before_co_activation() -> None:
    """A pinned score is capped at 1.0 and only then multiplied."""
    sure = Signals(search=1.0, content_type="decision", age_days=0, pinned=True)

    assert published(sure) == 1.0
    assert published(sure, co_activations=1) == pytest.approx(1.1)
    assert published(sure, co_activations=2) == published(sure, co_activations=3) == pytest.approx(1.15)


@pytest.mark.parametrize("broken", [math.nan, math.inf])
@pytest.mark.parametrize("pinned", [True, False])
def test_broken_signal_scores_zero(broken: float, pinned: bool) -> None:
    """A score that is NaN or infinite becomes 0.0, and no pin lifts it."""
    assert published(Signals(search=broken, content_type="note", age_days=0, pinned=pinned)) == 0.0


def test_length_factor_starts_after_five_hundred_characters() -> None:
    """500 characters are not long, 501 are; 1000 give 2/3, and the factor never drops below 0.3."""
    assert length_factor(0) == length_factor(500) == 1.0
    assert length_factor(501) < 1.0
    assert length_factor(1000) == pytest.approx(2 / 3)
    assert length_factor(10**9) == 0.3


def test_frequency_needs_a_repetition() -> None:
    """One revision and one duplicate are the document itself; the boost stops at a tenth."""
    assert frequency_boost(1, 1) == frequency_boost(0, 0) == 0.0
    assert frequency_boost(1, 2) == pytest.approx(0.03 * math.log(2))
    assert frequency_boost(3, 2) == pytest.approx(0.03 * math.log(6))
    assert frequency_boost(10**6, 1) == 0.10


@given(
    st.builds(
        Signals,
        search=st.floats(0, 1),
        content_type=st.sampled_from(["note", "decision", "handoff", "recipe"]),
        age_days=st.floats(-10, 1e4),
        access_count=st.integers(0, 1000),
        days_since_access=st.one_of(st.none(), st.floats(0, 1e4)),
        stored_confidence=st.floats(0, 1),
        quality=st.floats(0, 1),
        length=st.integers(0, 10**7),
        revisions=st.integers(1, 1000),
        duplicates=st.integers(1, 1000),
        pinned=st.booleans(),
    ),
    st.booleans(),
    st.integers(0, 100),
)
def test_score_is_finite_and_not_negative(signals: Signals, intent: bool, count: int) -> None:
    """Signals in their ranges give a score from 0 to 1.3 x 1.1 x 1.15."""
    assert 0 <= published(signals, recency_intent=intent, co_activations=count) <= 1.3 * 1.1 * 1.15
