from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.retrieval.recency import HALF_LIFE_DAYS, decay, half_life_days, recency

types = st.sampled_from([*HALF_LIFE_DAYS, "recipe"])
ages = st.floats(0, 1e5)


@pytest.mark.parametrize("content_type", ["decision", "deductive", "preference", "hub", "antipattern"])
def test_ageless_types_stay_fresh(content_type: str) -> None:
    """Types without a half life are fresh at any age, dated or not."""
    assert half_life_days(content_type) == math.inf
    assert recency(content_type, 1e6) == recency(content_type, math.nan) == 1.0


@given(types, ages, ages)
def test_older_is_never_fresher(content_type: str, one: float, other: float) -> None:
    """Recency lies in [0, 1] and does not rise with age."""
    young, old = sorted((one, other))

    assert 0 <= recency(content_type, old) <= recency(content_type, young) <= 1


@given(types, ages, st.integers(-3, 10_000), st.one_of(st.none(), st.floats(allow_nan=True)))
def test_use_never_makes_older(content_type: str, age: float, count: int, since: float | None) -> None:
    """No count and no access date lower the recency."""
    used = recency(content_type, age, access_count=count, days_since_access=since)

    assert recency(content_type, age) <= used <= 1


@pytest.mark.parametrize("half_life", [0.0, -1.0, math.nan])
def test_decay_refuses_a_broken_half_life(half_life: float) -> None:
    """A half life must be above zero."""
    with pytest.raises(ValueError, match="half life"):
        decay(1.0, half_life)
