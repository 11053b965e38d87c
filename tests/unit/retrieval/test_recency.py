from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.retrieval.composite import TYPES, recency

types = st.sampled_from([*TYPES, "recipe"])
ages = st.floats(0, 1e5)


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
