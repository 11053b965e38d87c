from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.graph.traversal import cooccurrence_score


@given(st.integers(0, 10**9))
def test_more_together_is_never_less_near(count: int) -> None:
    """The score is a share, and one document more never lowers it."""
    assert 0.0 <= cooccurrence_score(count) <= cooccurrence_score(count + 1) <= 1.0
