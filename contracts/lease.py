import re
from contextlib import nullcontext, suppress
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clawmem.contracts.base import Contract
from clawmem.contracts.lexical_index import any_text
from clawmem.contracts.samples import T0
from clawmem.domain.maintenance.lease import may_acquire, may_act, may_renew
from clawmem.ports.errors import LeaseLost
from clawmem.ports.storage import Lease, LeaseStore

UNKNOWN = "0" * 32  # a token that no acquisition returned

# Steps of a history: the action, the holder, one of the leases so far, the pause before the step, and the lifetime.
HISTORIES = st.lists(
    st.tuples(
        st.sampled_from(("acquire", "renew", "check", "release")),
        st.sampled_from("ab"),
        st.integers(0, 5),
        st.integers(0, 60),
        st.integers(1, 100),
    ),
    max_size=40,
)
# All examples of a run share one store, so each has its own name.
_names = count()


def acquired(leases: LeaseStore, holder: str = "a", *, now_ms: int = T0, ttl_ms: int = 100) -> Lease:
    """Acquire the lease ``index``, failing the test if it is refused."""
    lease = leases.acquire("index", holder, now_ms=now_ms, ttl_ms=ttl_ms)
    assert lease is not None, f"the index lease was refused to {holder!r} at T0 + {now_ms - T0} ms"
    return lease


class LeaseContract(Contract):
    """Leases, and a comparison with the rules of `clawmem.domain.maintenance.lease`. Supply ``leases``: an EMPTY ``LeaseStore``."""

    def test_second_holder_waits(self, leases: LeaseStore) -> None:
        """While one holder's lease is live, up to its last millisecond, another holder gets None."""
        acquired(leases, "a", ttl_ms=100)

        assert leases.acquire("index", "b", now_ms=T0, ttl_ms=100) is None
        assert leases.acquire("index", "b", now_ms=T0 + 99, ttl_ms=100) is None

    def test_expiry_is_exclusive(self, leases: LeaseStore) -> None:
        """At exactly `expires_ms` any holder can acquire the lease."""
        acquired(leases, "a", ttl_ms=100)

        assert leases.acquire("index", "b", now_ms=T0 + 100, ttl_ms=100)

    def test_token_is_sixteen_bytes(self, leases: LeaseStore) -> None:
        """A token is 32 lower-case hex digits, and `current` returns it unchanged, even if all are decimal."""
        lease = acquired(leases, "a")

        assert re.fullmatch("[0-9a-f]{32}", lease.token), lease.token
        assert leases.current("index", now_ms=T0) == lease

    def test_no_token_is_given_twice(self, leases: LeaseStore) -> None:
        """Every acquisition has a new token, after an expiry and after a release, for any holder."""
        given = [acquired(leases, "a", now_ms=T0 + 200 * n, ttl_ms=100) for n in range(20)]
        leases.release(given[-1])
        for _ in range(20):
            given.append(acquired(leases, "a"))
            leases.release(given[-1])

        assert len({lease.token for lease in given}) == 40

    def test_live_lease_passes(self, leases: LeaseStore) -> None:
        """A lease passes until one millisecond before `expires_ms` and fails at `expires_ms`."""
        lease = acquired(leases, "a", ttl_ms=100)

        leases.check(lease, now_ms=T0 + 99)
        with pytest.raises(LeaseLost):
            leases.check(lease, now_ms=T0 + 100)

    def test_old_token_is_lost(self, leases: LeaseStore) -> None:
        """After its holder acquired the lease again, the first lease fails, is not renewed, and releases nothing."""
        first, second = (acquired(leases, now_ms=T0 + pause, ttl_ms=100) for pause in (0, 200))

        with pytest.raises(LeaseLost):
            leases.check(first, now_ms=T0 + 200)
        with pytest.raises(LeaseLost):
            leases.renew(first, now_ms=T0 + 200, ttl_ms=100)
        leases.release(first)
        leases.check(second, now_ms=T0 + 299)

    def test_unknown_name_fails(self, leases: LeaseStore) -> None:
        """A lease on a name that was never acquired is lost, and the error contains name and holder."""
        with pytest.raises(LeaseLost) as lost:
            leases.check(Lease("index", "a", UNKNOWN, expires_ms=T0 + 100), now_ms=T0)

        assert str(lost.value).startswith("'a' lost the 'index' lease")

    def test_current_is_the_live_lease(self, leases: LeaseStore) -> None:
        """`current` returns the live lease of a name, and None before it, at its expiry, and after its release."""
        assert leases.current("index", now_ms=T0) is None
        lease = leases.acquire("index", "a", now_ms=T0, ttl_ms=100)
        assert lease is not None

        assert leases.current("index", now_ms=T0 + 99) == lease
        assert leases.current("index", now_ms=T0 + 100) is None
        assert leases.current("other", now_ms=T0) is None
        leases.release(lease)
        assert leases.current("index", now_ms=T0) is None

    def test_late_release_spares_the_new_holder(self, leases: LeaseStore) -> None:
        """Releasing a lost lease does not affect the new holder."""
        lost = acquired(leases, "a", ttl_ms=100)
        mine = acquired(leases, "b", now_ms=T0 + 100, ttl_ms=100)

        leases.release(lost)

        leases.check(mine, now_ms=T0 + 199)
        assert leases.acquire("index", "c", now_ms=T0 + 199, ttl_ms=100) is None

    @settings(any_text, max_examples=50)
    @given(HISTORIES)
    def test_every_history_follows_the_rules(
        self, leases: LeaseStore, history: list[tuple[str, str, int, int, int]]
    ) -> None:
        """The store grants, renews, checks and releases exactly what the rules allow, whoever asks."""
        name, now_ms = f"history {next(_names)}", T0
        known = [Lease(name, "a", UNKNOWN, expires_ms=T0 + 100)]
        current: Lease | None = None
        for action, holder, place, pause, ttl_ms in history:
            now_ms += pause
            lease = known[place % len(known)]
            if place == 5:  # the token of one holder, used by another
                lease = lease._replace(holder=holder)
            if action == "acquire":
                granted = leases.acquire(name, holder, now_ms=now_ms, ttl_ms=ttl_ms)
                assert (granted is not None) == may_acquire(current, now_ms)
                current = granted or current
            elif action == "renew":
                renewed = None
                with suppress(LeaseLost):
                    renewed = leases.renew(lease, now_ms=now_ms, ttl_ms=ttl_ms)
                assert renewed == (
                    lease._replace(expires_ms=now_ms + ttl_ms) if may_renew(lease, current) else None
                )
                current = renewed or current
            elif action == "check":
                is_lost = nullcontext() if may_act(lease, current, now_ms) else pytest.raises(LeaseLost)
                with is_lost:
                    leases.check(lease, now_ms=now_ms)
            else:
                leases.release(lease)
                current = None if may_renew(lease, current) else current
            if current and current not in known:
                known.append(current)
            assert leases.current(name, now_ms=now_ms) == (None if may_acquire(current, now_ms) else current)
