from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.retrieval.fusion import lexical_score


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_score_is_at_least_zero_and_below_one(raw: float) -> None:
    """Whatever the engine hands over, the score lies in [0, 1)."""
    assert 0 <= lexical_score(raw) < 1


@given(st.integers(0, 1_000_000), st.integers(0, 1_000_000))
def test_score_orders_as_the_engine_does(one: int, other: int) -> None:
    """A larger weight, in steps of a thousandth, always has the strictly larger score."""
    assert (lexical_score(-one / 1000) < lexical_score(-other / 1000)) == (one < other)
