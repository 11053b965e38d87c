from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.retrieval.composite import BASELINE, baseline, blend_stored, computed_confidence

types = st.sampled_from([*BASELINE, "antipattern", "recipe"])
shares = st.floats(0, 1)


def test_fresh_unread_document_has_its_baseline() -> None:
    """Without age and use the computed confidence is the baseline of the type, 0.5 for an unknown one."""
    assert {kind: computed_confidence(kind, 0.0) for kind in BASELINE} == BASELINE
    assert computed_confidence("recipe", 0.0) == baseline("antipattern") == 0.5


@given(shares, shares, shares)
def test_more_evidence_never_lowers(computed: float, one: float, other: float) -> None:
    """The blend stays in [0, 1] and does not fall when the stored confidence rises."""
    low, high = sorted((one, other))

    assert 0 <= blend_stored(computed, low) <= blend_stored(computed, high) <= 1


def test_evidence_outside_its_range_counts_as_the_nearer_end() -> None:
    """A stored value beyond 0 or 1 moves no further than the end itself."""
    assert blend_stored(0.4, -9.0) == blend_stored(0.4, 0.0) == 0.2
    assert blend_stored(0.4, 9.0) == blend_stored(0.4, 1.0) == pytest.approx(0.6)


@given(types, st.floats(), st.integers(-5, 10**6), st.one_of(st.none(), st.floats()), st.booleans())
def test_confidence_is_a_share(kind: str, age: float, count: int, since: float | None, never: bool) -> None:
    """Whatever the record says, the computed confidence lies in [0, 1]."""
    confidence = computed_confidence(
        kind, age, access_count=count, days_since_access=since, never_accessed=never
    )

    assert 0 <= confidence <= 1
