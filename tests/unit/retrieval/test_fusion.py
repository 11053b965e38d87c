from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.retrieval.fusion import min_max, rrf, weighted_sum

keys = st.text("abcdefgh", min_size=1, max_size=2)
rankings = st.dictionaries(st.sampled_from(["lexical", "vector", "graph"]), st.lists(keys, unique=True))
scores = st.dictionaries(keys, st.floats(-1e6, 1e6))


def test_worked_examples() -> None:
    """Weight 2 at rank 0 gives 0.08279; rank 4 of a plain leg on top gives 0.09817."""
    alone = dict(rrf({"lexical": ["a"]}, {"lexical": 2.0}))
    both = dict(rrf({"lexical": ["a"], "vector": ["b", "c", "d", "e", "a"]}, {"lexical": 2.0}))

    assert alone["a"] == pytest.approx(0.08279, abs=1e-5)
    assert both["a"] == pytest.approx(0.09817, abs=1e-5)


def test_bonus_ends_after_the_third_rank() -> None:
    """The top-rank bonus is 0.05, 0.02, 0.02 and then nothing."""
    with_bonus = rrf({"lexical": "abcd"})
    without = dict(rrf({"lexical": "abcd"}, bonus=False))

    gains = [score - without[key] for key, score in with_bonus]
    assert gains == pytest.approx([0.05, 0.02, 0.02, 0.0])


def test_weight_belongs_to_the_leg_not_to_its_position() -> None:
    """An empty leg keeps its weight to itself."""
    assert rrf({"lexical": [], "vector": ["a"]}, {"lexical": 2.0}) == rrf({"vector": ["a"]})


@pytest.mark.parametrize("broken", [math.nan, math.inf, -math.inf, -0.001])
def test_broken_weight_counts_as_one(broken: float) -> None:
    """A weight that is NaN, infinite or negative counts as 1.0."""
    assert rrf({"lexical": ["a"]}, {"lexical": broken}) == rrf({"lexical": ["a"]})


def test_weight_zero_leaves_the_leg_out() -> None:
    """A leg of weight 0 adds neither a share nor a bonus."""
    assert rrf({"lexical": ["a"], "vector": ["b"]}, {"vector": 0}) == rrf({"lexical": ["a"]})


@pytest.mark.parametrize("broken", [0, -1, math.nan, math.inf])
def test_broken_damping_counts_as_sixty(broken: float) -> None:
    """A k that is not finite or not positive counts as 60."""
    assert rrf({"lexical": ["a"]}, k=broken) == rrf({"lexical": ["a"]}, k=60)


def test_weight_for_an_absent_leg_is_refused() -> None:
    """A weight whose leg is not there is a mistake in the name, and the message says which."""
    with pytest.raises(ValueError, match="grpah"):
        rrf({"graph": ["a"]}, {"grpah": 2.0})


def test_repeated_key_counts_once() -> None:
    """A key that a leg names twice counts at its best rank and leaves no gap."""
    assert rrf({"lexical": ["a", "a", "b"]}) == rrf({"lexical": ["a", "b"]})


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


def test_min_max_of_equal_scores() -> None:
    """Equal scores, one or many, all become 1.0; with none above the floor all become 0.0."""
    assert min_max({"a": 0.2}) == {"a": 1.0}
    assert min_max({"a": 0.2, "b": 0.2}) == {"a": 1.0, "b": 1.0}
    assert min_max({"a": 0.2}, floor=0.2) == {"a": 0.0}
    assert min_max({"a": 0.2}, floor=0.1999) == {"a": 1.0}


def test_min_max_drops_what_is_not_finite() -> None:
    """NaN and infinite scores do not come back and do not stretch the scale."""
    assert min_max({"a": 1.0, "b": 0.0, "c": math.inf, "d": math.nan}) == {"a": 1.0, "b": 0.0}
    assert min_max({"a": math.nan}) == {}


@pytest.mark.parametrize("floor", [math.nan, math.inf])
def test_min_max_refuses_a_floor_that_is_no_number(floor: float) -> None:
    """A floor must be finite."""
    with pytest.raises(ValueError, match="floor"):
        min_max({"a": 1.0}, floor=floor)


def test_weighted_sum_takes_an_absent_key_as_zero() -> None:
    """A key absent from one mapping gets nothing from it and keeps the rest."""
    assert weighted_sum([(0.75, {"a": 1.0, "b": 0.5}), (0.25, {"a": 1.0, "c": 1.0})]) == {
        "a": 1.0,
        "b": 0.375,
        "c": 0.25,
    }


@given(scores, scores)
def test_weighted_sum_does_not_depend_on_the_order(one: dict[str, float], other: dict[str, float]) -> None:
    """Parts in another order give the same sums."""
    assert weighted_sum([(0.3, one), (0.7, other)]) == weighted_sum([(0.7, other), (0.3, one)])


@pytest.mark.parametrize("weight", [math.nan, math.inf])
def test_weighted_sum_refuses_a_weight_that_is_no_number(weight: float) -> None:
    """A weight must be finite."""
    with pytest.raises(ValueError, match="weight"):
        weighted_sum([(weight, {"a": 1.0})])
