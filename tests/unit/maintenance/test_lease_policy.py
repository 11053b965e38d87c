from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.maintenance.lease import is_live, may_acquire, may_act, next_token

UNTIL = 2_000
times = st.integers(0, 2**53)


def test_expiry_is_exclusive() -> None:
    """A lease lives up to its last millisecond and not at its expiry."""
    assert is_live(UNTIL, UNTIL - 1)
    assert not is_live(UNTIL, UNTIL)
    assert not is_live(UNTIL, UNTIL + 1)


def test_another_holder_waits_until_expiry() -> None:
    """Another's lease can be taken at exactly its expiry, not a millisecond earlier."""
    assert not may_acquire("b", UNTIL, "a", UNTIL - 1)
    assert may_acquire("b", UNTIL, "a", UNTIL)


def test_free_lease_is_anyones() -> None:
    """A lease that nobody holds can be taken whatever its old expiry says."""
    assert may_acquire(None, UNTIL, "a", 0)


def test_holder_may_take_its_own_again() -> None:
    """A holder renews at any time."""
    assert may_acquire("a", UNTIL, "a", UNTIL - 1)
    assert may_acquire("a", UNTIL, "a", UNTIL + 1)


def test_write_needs_current_token_and_live_lease() -> None:
    """A write is refused to an older token, to one never given out, and at exactly the expiry."""
    assert may_act(5, 5, UNTIL, UNTIL - 1)
    assert not may_act(4, 5, UNTIL, UNTIL - 1)
    assert not may_act(6, 5, UNTIL, UNTIL - 1)
    assert not may_act(5, 5, UNTIL, UNTIL)


@given(st.integers(0, 2**62))
def test_token_grows(token: int) -> None:
    """Every acquisition has a larger token than the one before."""
    assert next_token(token) > token


def test_negative_token_is_refused() -> None:
    """Tokens count from 0."""
    assert next_token(0) == 1
    with pytest.raises(ValueError, match="token"):
        next_token(-1)


@given(times, times, st.integers(0, 99))
def test_predecessor_never_acts_after_its_successor(expires_ms: int, now_ms: int, token: int) -> None:
    """Once a successor has acquired, no instant lets the predecessor's token through."""
    assert not may_act(token, next_token(token), expires_ms, now_ms)


@given(times, times)
def test_at_most_one_side_may_proceed(expires_ms: int, now_ms: int) -> None:
    """At every instant either the holder may act or another may take over, never both."""
    assert may_act(1, 1, expires_ms, now_ms) != may_acquire("holder", expires_ms, "other", now_ms)
