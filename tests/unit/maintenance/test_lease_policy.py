from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.maintenance.lease import TOKEN_BYTES, may_acquire, may_act, token_of

ONE, OTHER = token_of(bytes(range(TOKEN_BYTES))), token_of(bytes(TOKEN_BYTES))
times = st.integers(0, 2**53)
chances = st.binary(min_size=TOKEN_BYTES, max_size=TOKEN_BYTES)


@given(chances, chances)
def test_token_is_its_chance(one: bytes, other: bytes) -> None:
    """A token is as good as what it was drawn from: the same from the same, another from any other."""
    assert len(token_of(one)) == 2 * TOKEN_BYTES
    assert (token_of(one) == token_of(other)) is (one == other)


@given(times, times)
def test_predecessor_never_acts_after_its_successor(expires_ms: int, now_ms: int) -> None:
    """Once a successor has acquired, no instant lets the predecessor's token through."""
    assert not may_act(ONE, OTHER, expires_ms, now_ms)


@given(times, times)
def test_at_most_one_side_may_proceed(expires_ms: int, now_ms: int) -> None:
    """At every instant either the holder may act or somebody may take over, never both."""
    assert may_act(ONE, ONE, expires_ms, now_ms) != may_acquire(expires_ms, now_ms)
