from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.maintenance.lease import may_acquire, may_act
from clawmem.ports.storage import Lease

times = st.integers(0, 2**53)


@given(times, times)
def test_predecessor_never_acts_after_its_successor(expires_ms: int, now_ms: int) -> None:
    """Once a successor has acquired, no instant lets the predecessor's token through."""
    held, current = (Lease("index", "a", token, expires_ms) for token in ("1", "2"))

    assert not may_act(held, current, now_ms)


@given(times, times)
def test_at_most_one_side_may_proceed(expires_ms: int, now_ms: int) -> None:
    """At every instant either the holder may act or somebody may take over, never both."""
    lease = Lease("index", "a", "1", expires_ms)

    assert may_act(lease, lease, now_ms) != may_acquire(lease, now_ms)
