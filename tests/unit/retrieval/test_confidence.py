from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.retrieval.composite import BASELINE, blend_stored, computed_confidence

types = st.sampled_from([*BASELINE, "antipattern", "recipe"])
shares = st.floats(0, 1)


@given(shares, shares, shares)
def test_more_evidence_never_lowers(computed: float, one: float, other: float) -> None:
    """The blend stays in [0, 1] and does not fall when the stored confidence rises."""
    low, high = sorted((one, other))

    assert 0 <= blend_stored(computed, low) <= blend_stored(computed, high) <= 1


@given(types, st.floats(), st.integers(-5, 10**6), st.one_of(st.none(), st.floats()), st.booleans())
def test_confidence_is_a_share(kind: str, age: float, count: int, since: float | None, never: bool) -> None:
    """Whatever the record says, the computed confidence lies in [0, 1]."""
    confidence = computed_confidence(
        kind, age, access_count=count, days_since_access=since, never_accessed=never
    )

    assert 0 <= confidence <= 1
