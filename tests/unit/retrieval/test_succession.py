from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.retrieval.versions import last_successors, successors

KEYS = st.integers(0, 9)
PAIRS = st.lists(st.tuples(KEYS, KEYS), max_size=12)


@given(PAIRS)
def test_successors_are_transitive_and_without_cycles(pairs: list[tuple[int, int]]) -> None:
    """What supersedes a successor supersedes the item; nothing supersedes itself."""
    newer = successors(pairs)

    for key, found in newer.items():
        assert key not in found
        assert all(newer.get(one, set()) <= found for one in found)


@given(PAIRS)
def test_the_order_of_the_claims_does_not_matter(pairs: list[tuple[int, int]]) -> None:
    assert successors(pairs) == successors(pairs[::-1])


def test_a_circle_orders_nothing() -> None:
    assert successors([(1, 2), (2, 1)]) == {1: set(), 2: set()}


@pytest.mark.parametrize("revisions", [200, pytest.param(1_000, marks=pytest.mark.slow)])
def test_a_long_row_of_successions(revisions: int) -> None:
    """Of many revisions of one note the last one is current."""
    pairs = [*pairwise(range(revisions))]

    assert set().union(*last_successors(pairs).values()) == {revisions - 1}
