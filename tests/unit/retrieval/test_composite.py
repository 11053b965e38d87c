from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.retrieval.composite import Signals, published


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
