from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations

from hypothesis import example, given
from hypothesis import strategies as st

from clawmem.domain.retrieval.fusion import RERANKER_SHARE, blend, min_max, rrf

keys = st.text("abcdefgh", min_size=1, max_size=2)
rankings = st.dictionaries(st.sampled_from(["lexical", "vector", "graph"]), st.lists(keys, unique=True))
scores = st.dictionaries(keys, st.floats(-1e6, 1e6))


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


@given(st.lists(keys, unique=True))
def test_one_leg_keeps_its_order(ranking: list[str]) -> None:
    """A single leg comes back in its own order."""
    assert [key for key, _ in rrf({"lexical": ranking})] == ranking


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


FIVE = "abcde"
fused_scores = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0, 1))
five_scores = st.lists(st.floats(0.01, 1), min_size=5, max_size=5)
ORDERS = list(permutations(FIVE))


def order(blended: Mapping[str, float]) -> tuple[str, ...]:
    return tuple(sorted(blended, key=lambda key: -blended[key]))


def reranker_for(wanted: Sequence[str], fused: Mapping[str, float]) -> dict[str, float]:
    """Scores that put the first at 1 and the last at 0, and the others evenly between what these two can reach."""
    top, share = max(fused.values()), RERANKER_SHARE
    step = (2 * share - 1) * top / (len(wanted) - 1)
    goals = {key: share * top - place * step for place, key in enumerate(wanted)}
    scores = {key: (goals[key] - (1 - share) * fused[key]) / (share * top) for key in wanted}
    return scores | {wanted[0]: 1.0, wanted[-1]: 0.0}


@given(five_scores, st.sampled_from(ORDERS))
@example([1.0, 0.9, 0.5, 0.2, 0.0], ("e", "d", "c", "b", "a"))
def test_every_order_can_be_reached(values: list[float], wanted: tuple[str, ...]) -> None:
    """Whatever order the indexes found, and with whichever scores, the reranker can bring about each of all 120."""
    fused = dict(zip(FIVE, values, strict=True))

    assert order(blend(fused, reranker_for(wanted, fused))) == wanted


@given(fused_scores, fused_scores)
def test_nothing_is_lost_and_nothing_grows(fused: dict[str, float], reranked: dict[str, float]) -> None:
    """Every answer has a finite score from 0 to the best fused one, in the order given."""
    blended = blend(fused, reranked)

    top = max(fused.values(), default=0.0)
    assert list(blended) == list(fused)
    assert all(0.0 <= score <= top * (1 + 1e-12) for score in blended.values())


@given(fused_scores, st.floats(0, 1))
def test_a_constant_reranker_changes_nothing(fused: dict[str, float], score: float) -> None:
    """A model that tells nothing apart leaves every score as it was."""
    assert blend(fused, dict.fromkeys(fused, score)) == fused
