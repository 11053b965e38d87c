from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.retrieval.fusion import RERANKER_SHARE, blend

FIVE = "abcde"
scores = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0, 1))
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


@pytest.mark.parametrize("wanted", ORDERS, ids="".join)
def test_every_order_can_be_reached(wanted: tuple[str, ...]) -> None:
    """Whatever order the indexes found, the reranker can bring about each of all 120."""
    fused = {"a": 1.0, "b": 0.9, "c": 0.5, "d": 0.2, "e": 0.0}
    reranked = reranker_for(wanted, fused)

    assert all(0.0 <= score <= 1.0 for score in reranked.values())
    assert order(blend(fused, reranked)) == wanted


@given(five_scores, st.sampled_from(ORDERS))
def test_every_order_can_be_reached_from_every_other(values: list[float], wanted: tuple[str, ...]) -> None:
    """The same holds whatever the fused scores are."""
    fused = dict(zip(FIVE, values, strict=True))

    assert order(blend(fused, reranker_for(wanted, fused))) == wanted


@given(scores, scores)
def test_nothing_is_lost_and_nothing_grows(fused: dict[str, float], reranked: dict[str, float]) -> None:
    """Every answer has a finite score from 0 to the best fused one, in the order given."""
    blended = blend(fused, reranked)

    top = max(fused.values(), default=0.0)
    assert list(blended) == list(fused)
    assert all(0.0 <= score <= top * (1 + 1e-12) for score in blended.values())


@given(scores, st.floats(0, 1))
def test_a_constant_reranker_changes_nothing(fused: dict[str, float], score: float) -> None:
    """A model that tells nothing apart leaves every score as it was."""
    assert blend(fused, dict.fromkeys(fused, score)) == fused


@given(st.lists(st.floats(0, 1), min_size=2, max_size=30), st.data())
def test_what_was_not_read_stays_behind(values: list[float], data: st.DataObject) -> None:
    """Answers beyond those that were read come after them, in their order, however the read ones are mixed."""
    ranked = sorted(values, reverse=True)
    read = data.draw(st.integers(1, len(ranked)))
    given_scores = data.draw(st.lists(st.floats(0, 1), min_size=read, max_size=read))

    blended = blend(dict(enumerate(ranked)), dict(enumerate(given_scores)))

    places = sorted(blended, key=lambda place: (-blended[place], place))
    behind = [place for place in places if place >= read]
    assert behind == list(range(read, len(ranked)))
    assert min(blended[place] for place in range(read)) >= max((blended[p] for p in behind), default=0.0)
