from __future__ import annotations

from itertools import pairwise

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
    assert sum(left[0] > right[0] for left, right in pairwise(places)) <= 1
