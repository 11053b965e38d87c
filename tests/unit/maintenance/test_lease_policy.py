from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.maintenance.lease import TOKEN_BYTES, is_live, may_acquire, may_act, may_renew, token_of

UNTIL = 2_000
ONE, OTHER = token_of(bytes(range(TOKEN_BYTES))), token_of(bytes(TOKEN_BYTES))
times = st.integers(0, 2**53)
chances = st.binary(min_size=TOKEN_BYTES, max_size=TOKEN_BYTES)


def test_expiry_is_exclusive() -> None:
    """A lease lives up to its last millisecond and not at its expiry."""
    assert is_live(UNTIL, UNTIL - 1)
    assert not is_live(UNTIL, UNTIL)
    assert not is_live(UNTIL, UNTIL + 1)


def test_everybody_waits_until_expiry() -> None:
    """A lease can be taken at exactly its expiry, not a millisecond earlier; a free one at any time."""
    assert not may_acquire(UNTIL, UNTIL - 1)
    assert may_acquire(UNTIL, UNTIL)
    assert may_acquire(None, 0)


def test_write_needs_current_token_and_live_lease() -> None:
    """A write is refused to another token, after the lease was given back, and at exactly the expiry."""
    assert may_act(ONE, ONE, UNTIL, UNTIL - 1)
    assert not may_act(ONE, OTHER, UNTIL, UNTIL - 1)
    assert not may_act(ONE, None, UNTIL, UNTIL - 1)
    assert not may_act(ONE, ONE, UNTIL, UNTIL)


def test_who_slept_goes_on_unless_somebody_came() -> None:
    """What has run out can be renewed while its token is the last one, and not once it was given back."""
    assert may_renew(ONE, ONE)
    assert not may_renew(ONE, OTHER)
    assert not may_renew(ONE, None)


@given(chances, chances)
def test_token_is_its_chance(one: bytes, other: bytes) -> None:
    """A token is as good as what it was drawn from: the same from the same, another from any other."""
    assert len(token_of(one)) == 2 * TOKEN_BYTES
    assert (token_of(one) == token_of(other)) is (one == other)


@pytest.mark.parametrize("size", [0, TOKEN_BYTES - 1, TOKEN_BYTES + 1])
def test_other_amounts_of_chance_are_refused(size: int) -> None:
    """Sixteen bytes, neither fewer nor more."""
    with pytest.raises(ValueError, match="16 bytes"):
        token_of(bytes(size))


@given(times, times)
def test_predecessor_never_acts_after_its_successor(expires_ms: int, now_ms: int) -> None:
    """Once a successor has acquired, no instant lets the predecessor's token through."""
    assert not may_act(ONE, OTHER, expires_ms, now_ms)


@given(times, times)
def test_at_most_one_side_may_proceed(expires_ms: int, now_ms: int) -> None:
    """At every instant either the holder may act or somebody may take over, never both."""
    assert may_act(ONE, ONE, expires_ms, now_ms) != may_acquire(expires_ms, now_ms)
