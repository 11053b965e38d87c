from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.retrieval.diversity import diversify

texts = st.lists(st.lists(st.sampled_from(["queue", "retry", "slot", "a", "b"]), max_size=6).map(" ".join))


def _as_is(text: str) -> str:
    return text


@given(texts, st.floats(0, 1))
def test_nothing_is_removed_or_added(items: list[str], threshold: float) -> None:
    """The same items come back, the best one first."""
    ordered = diversify(items, _as_is, threshold=threshold)

    assert sorted(ordered) == sorted(items)
    assert ordered[:1] == items[:1]


@given(texts)
def test_kept_and_tail_each_keep_their_order(items: list[str]) -> None:
    """The result is two runs of the ranking: what was kept, then what was moved."""
    places = diversify(list(enumerate(items)), lambda item: item[1])
    falls = sum(left[0] > right[0] for left, right in pairwise(places))

    assert falls <= 1


@pytest.mark.parametrize("items", [[], ["same"], ["same", "same"]])
def test_two_or_fewer_are_left_alone(items: list[str]) -> None:
    """Two copies are shown as they are ranked."""
    assert diversify(items, _as_is) == items


def test_copy_goes_behind_the_rest() -> None:
    """The third of three, when the second copies the first, moves up."""
    assert diversify(["slot hold time", "Slot hold time!", "other matter"], _as_is) == [
        "slot hold time",
        "other matter",
        "Slot hold time!",
    ]


def test_exactly_the_threshold_is_not_too_alike() -> None:
    """Three common pairs of five are 0.6: kept at 0.6, moved just below."""
    items = ["a b c d e", "a b c d f", "x y z"]

    assert diversify(items, _as_is, threshold=0.6) == items
    assert diversify(items, _as_is, threshold=0.599) == [items[0], items[2], items[1]]


def test_moved_items_do_not_move_others() -> None:
    """Likeness is measured against kept items only: like a moved one is not like a kept one."""
    first, like_first, like_both = "a b c d e", "a b c d e f g", "c d e f g h i"

    assert diversify([first, like_first, like_both], _as_is, threshold=0.5) == [first, like_both, like_first]


def test_items_without_words_are_like_nothing() -> None:
    """Empty texts are not copies of each other."""
    assert diversify(["", "", "!"], _as_is) == ["", "", "!"]


def test_scripts_without_spaces_are_compared_by_character() -> None:
    """Two nearly equal Chinese notes are near-copies although neither holds a space."""
    first, copy, other = "消息队列每天晚上清空一次", "消息队列每天晚上清空两次", "会话保存在数据库里"

    assert diversify([first, copy, other], _as_is) == [first, other, copy]


@pytest.mark.parametrize("threshold", [-0.01, 1.01, float("nan")])
def test_threshold_outside_its_range_is_refused(threshold: float) -> None:
    """A likeness lies in [0, 1], and so must its threshold."""
    with pytest.raises(ValueError, match="threshold"):
        diversify([], _as_is, threshold=threshold)
