from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.retrieval.composite import TYPES, Signals, computed_confidence

types = st.sampled_from([*TYPES, "recipe"])
shares = st.floats(0, 1)


@given(
    types,
    st.floats(),
    st.integers(-5, 10**6),
    st.one_of(st.none(), st.floats()),
    st.booleans(),
    shares,
    shares,
)
def test_confidence_is_a_share(
    kind: str, age: float, count: int, since: float | None, never: bool, one: float, other: float
) -> None:
    """Whatever the record says, the confidence lies in [0, 1], and does not fall when the stored one rises."""
    signals = Signals(0.0, kind, age, count, since, never)

    low, high = (
        computed_confidence(signals._replace(stored_confidence=stored)) for stored in sorted((one, other))
    )

    assert 0 <= low <= high <= 1
