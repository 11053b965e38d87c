from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.retrieval.bm25 import lexical_score


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_score_is_at_least_zero_and_below_one(raw: float) -> None:
    """Whatever the engine hands over, the score lies in [0, 1)."""
    assert 0 <= lexical_score(raw) < 1


@given(st.integers(0, 1_000_000), st.integers(0, 1_000_000))
def test_score_orders_as_the_engine_does(one: int, other: int) -> None:
    """A larger weight, in steps of a thousandth, always has the strictly larger score."""
    assert (lexical_score(-one / 1000) < lexical_score(-other / 1000)) == (one < other)


@pytest.mark.parametrize(("raw", "score"), [(0.0, 0.0), (-1.0, 0.5), (1.0, 0.5), (-3.0, 0.75)])
def test_score_is_weight_over_one_plus_weight(raw: float, score: float) -> None:
    """The score is a/(1+a), whichever way the engine counts."""
    assert lexical_score(raw) == score


def test_missing_weight_scores_nothing() -> None:
    """NaN is no match."""
    assert lexical_score(math.nan) == 0.0


def test_two_hits_do_not_score_alike() -> None:
    """Two different keyword hits have different scores; a constant would hide the ranking."""
    assert lexical_score(-2.1) != lexical_score(-2.2)
