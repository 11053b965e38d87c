from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.retrieval.fusion import min_max, rrf, weighted_sum

keys = st.text("abcdefgh", min_size=1, max_size=2)
rankings = st.dictionaries(st.sampled_from(["lexical", "vector", "graph"]), st.lists(keys, unique=True))
scores = st.dictionaries(keys, st.floats(-1e6, 1e6))


@pytest.mark.parametrize("broken", [math.nan, math.inf, -math.inf, -0.001])
def test_broken_weight_counts_as_one(broken: float) -> None:
    """A weight that is NaN, infinite or negative counts as 1.0."""
    assert rrf({"lexical": ["a"]}, {"lexical": broken}) == rrf({"lexical": ["a"]})


@given(rankings)
def test_order_of_the_legs_does_not_matter(legs: dict[str, list[str]]) -> None:
    """The same legs in another order give the same keys, order and scores, to the last bit."""
    weights = dict.fromkeys(legs, 1.3)

    assert rrf(legs, weights) == rrf(dict(reversed(legs.items())), weights)


@given(rankings)
def test_every_key_once_best_first_ties_by_key(legs: dict[str, list[str]]) -> None:
    """Fusion loses and invents no key, and sorts by score, then key."""
    fused = rrf(legs)

    assert sorted(key for key, _ in fused) == sorted({key for leg in legs.values() for key in leg})
    assert fused == sorted(fused, key=lambda pair: (-pair[1], pair[0]))


@given(st.lists(keys, unique=True), st.booleans())
def test_one_leg_keeps_its_order(ranking: list[str], bonus: bool) -> None:
    """A single leg comes back in its own order."""
    assert [key for key, _ in rrf({"lexical": ranking}, bonus=bonus)] == ranking


@given(scores)
def test_min_max_keeps_the_order_and_the_ends(given_scores: dict[str, float]) -> None:
    """Scaled scores lie in [0, 1], the highest is 1, and no pair changes places."""
    scaled = min_max(given_scores)

    assert scaled.keys() == given_scores.keys()
    assert all(0 <= score <= 1 for score in scaled.values())
    assert not scaled or max(scaled.values()) == 1.0
    by_score = sorted(given_scores, key=lambda key: given_scores[key])
    assert [scaled[key] for key in by_score] == sorted(scaled.values())


@given(scores, st.floats(-1e6, 1e6))
def test_min_max_with_floor_stays_in_range(given_scores: dict[str, float], floor: float) -> None:
    """With a floor all scores lie in [0, 1], and 0 is what is at or below the floor."""
    scaled = min_max(given_scores, floor=floor)

    assert all(0 <= score <= 1 for score in scaled.values())
    assert all(scaled[key] == 0 for key, score in given_scores.items() if score <= floor)


@given(scores, scores)
def test_weighted_sum_does_not_depend_on_the_order(one: dict[str, float], other: dict[str, float]) -> None:
    """Parts in another order give the same sums."""
    assert weighted_sum([(0.3, one), (0.7, other)]) == weighted_sum([(0.7, other), (0.3, one)])


@pytest.mark.parametrize("weight", [math.nan, math.inf])
def test_weighted_sum_refuses_a_weight_that_is_no_number(weight: float) -> None:
    """A weight must be finite."""
    with pytest.raises(ValueError, match="weight"):
        weighted_sum([(weight, {"a": 1.0})])
