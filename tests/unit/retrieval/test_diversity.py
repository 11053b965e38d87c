from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.retrieval.fusion import diversify

texts = st.lists(st.lists(st.sampled_from(["queue", "retry", "slot", "a", "b"]), max_size=6).map(" ".join))


def _as_is(text: str) -> str:
    return text


@given(texts, st.floats(0, 1))
def test_nothing_is_removed_or_added(items: list[str], threshold: float) -> None:
    """The same items come back, the best one first."""
    distinct, copies = diversify(items, _as_is, threshold=threshold)

    assert sorted(distinct + copies) == sorted(items)
    assert distinct[:1] == items[:1]


@given(texts)
def test_both_lists_keep_their_order(items: list[str]) -> None:
    """Of the distinct ones and of the copies."""
    for part in diversify(list(enumerate(items)), lambda item: item[1]):
        assert part == sorted(part)
