from __future__ import annotations

import re

import pytest

from clawmem.contracts.base import Contract
from clawmem.contracts.samples import T0
from clawmem.ports.errors import LeaseLost
from clawmem.ports.lease import LeaseStore
from clawmem.ports.records import Lease

UNKNOWN = "0" * 32  # a token that nobody was given


class _LeaseContract(Contract):
    @pytest.fixture
    def leases(self) -> LeaseStore:
        """Supplied by the subclass."""
        raise NotImplementedError("override the `leases` fixture and return an EMPTY LeaseStore")


def acquired(leases: LeaseStore, holder: str = "a", *, now_ms: int = T0, ttl_ms: int = 100) -> Lease:
    """A lease on ``index`` that must be granted."""
    lease = leases.acquire("index", holder, now_ms=now_ms, ttl_ms=ttl_ms)
    assert lease is not None, f"the index lease was refused to {holder!r} at T0 + {now_ms - T0} ms"
    return lease


def _twice(leases: LeaseStore) -> tuple[Lease, Lease]:
    """Two leases of one holder, the second acquired at T0 + 200, when the first had long run out."""
    return acquired(leases, "a", ttl_ms=100), acquired(leases, "a", now_ms=T0 + 200, ttl_ms=100)


class LeaseAcquireContract(_LeaseContract):
    """Who gets a lease. Supply ``leases``: an EMPTY ``LeaseStore``."""

    def test_free_name_is_granted(self, leases: LeaseStore) -> None:
        """
        A free name is granted to who asks, until `now_ms + ttl_ms`, with the fields that were asked for.

        If this fails: look at how the lease is built from the arguments, the expiry above all.
        """
        lease = leases.acquire("index", "a", now_ms=T0, ttl_ms=100)

        assert lease is not None
        assert (lease.name, lease.holder, lease.expires_ms) == ("index", "a", T0 + 100)

    def test_second_holder_waits(self, leases: LeaseStore) -> None:
        """
        While one holder's lease is live, to its last millisecond, another gets None.

        If this fails: check and write are two statements, or `now_ms` is ignored.
        """
        acquired(leases, "a", ttl_ms=100)

        assert leases.acquire("index", "b", now_ms=T0, ttl_ms=100) is None
        assert leases.acquire("index", "b", now_ms=T0 + 99, ttl_ms=100) is None

    def test_expiry_is_exclusive(self, leases: LeaseStore) -> None:
        """
        At exactly `expires_ms` the lease is anyone's.

        If this fails: compare with `<=`, not `<`.
        """
        acquired(leases, "a", ttl_ms=100)

        assert leases.acquire("index", "b", now_ms=T0 + 100, ttl_ms=100)

    def test_refusal_changes_nothing(self, leases: LeaseStore) -> None:
        """
        An attempt that gets None neither extends nor shortens the lease that stands.

        If this fails: the row is written before the condition is looked at.
        """
        lease = acquired(leases, "a", ttl_ms=100)

        leases.acquire("index", "b", now_ms=T0 + 50, ttl_ms=1000)

        leases.check(lease, now_ms=T0 + 99)
        assert acquired(leases, "b", now_ms=T0 + 100)

    def test_holder_waits_too(self, leases: LeaseStore) -> None:
        """
        A live lease is refused to its own holder: two threads of one process are two workers.

        If this fails: the condition says `or holder = :holder`.
        """
        lease = acquired(leases, "a", ttl_ms=100)

        assert leases.acquire("index", "a", now_ms=T0 + 50, ttl_ms=100) is None
        leases.check(lease, now_ms=T0 + 99)
        assert acquired(leases, "a", now_ms=T0 + 100).token != lease.token

    def test_token_is_sixteen_bytes(self, leases: LeaseStore) -> None:
        """
        A token is 32 lower-case hex digits, and comes back from `current` as it was given, all digits or not.

        If this fails: the token is a number, or is stored in a column that makes one of it.
        """
        lease = acquired(leases, "a")

        assert re.fullmatch("[0-9a-f]{32}", lease.token), lease.token
        assert leases.current("index", now_ms=T0) == lease

    def test_no_token_is_given_twice(self, leases: LeaseStore) -> None:
        """
        Every acquisition has a token of its own, after a takeover and after a release, whoever holds it.

        If this fails: the token is made of the name, the holder or the time, or begins anew with a release.
        """
        given = [acquired(leases, "a", now_ms=T0 + 200 * n, ttl_ms=100) for n in range(20)]
        leases.release(given[-1])
        for _ in range(20):
            given.append(acquired(leases, "a"))
            leases.release(given[-1])

        assert len({lease.token for lease in given}) == 40

    def test_names_are_independent(self, leases: LeaseStore) -> None:
        """
        A lease on one name does not keep anybody from another name.

        If this fails: the holder is looked up without the name.
        """
        index = acquired(leases, "a")

        embed = leases.acquire("embed", "b", now_ms=T0, ttl_ms=100)

        assert embed is not None
        leases.check(index, now_ms=T0)
        leases.check(embed, now_ms=T0)

    def test_shortest_lease(self, leases: LeaseStore) -> None:
        """
        A lease of one millisecond is live at its own instant and gone at the next.

        If this fails: times are rounded, or kept in seconds.
        """
        lease = acquired(leases, "a", ttl_ms=1)

        leases.check(lease, now_ms=T0)
        assert leases.acquire("index", "b", now_ms=T0, ttl_ms=1) is None
        assert leases.acquire("index", "b", now_ms=T0 + 1, ttl_ms=1)


class LeaseRenewContract(_LeaseContract):
    """Keeping a lease. Supply ``leases``: an EMPTY ``LeaseStore``."""

    def test_renewal_extends_and_keeps_the_token(self, leases: LeaseStore) -> None:
        """
        Renewing moves the expiry to `now_ms + ttl_ms` and nothing else.

        If this fails: renew is written as another acquire, or adds to the old expiry.
        """
        lease = acquired(leases, "a", ttl_ms=100)

        renewed = leases.renew(lease, now_ms=T0 + 60, ttl_ms=100)

        assert renewed == lease._replace(expires_ms=T0 + 160)

    def test_renewal_is_stored(self, leases: LeaseStore) -> None:
        """
        After a renewal others wait until the new expiry.

        If this fails: the new expiry is returned and never written.
        """
        leases.renew(acquired(leases, "a", ttl_ms=100), now_ms=T0 + 60, ttl_ms=100)

        assert leases.acquire("index", "b", now_ms=T0 + 159, ttl_ms=100) is None
        assert leases.acquire("index", "b", now_ms=T0 + 160, ttl_ms=100)

    def test_expired_lease_that_nobody_took(self, leases: LeaseStore) -> None:
        """
        Who slept through the expiry goes on while nobody else came: nobody else can have worked.

        If this fails: renew looks at the expiry; the token alone tells whether somebody came.
        """
        lease = acquired(leases, "a", ttl_ms=100)
        with pytest.raises(LeaseLost):
            leases.check(lease, now_ms=T0 + 1000)

        leases.renew(lease, now_ms=T0 + 1000, ttl_ms=100)

        leases.check(lease, now_ms=T0 + 1099)
        assert leases.acquire("index", "b", now_ms=T0 + 1099, ttl_ms=100) is None

    def test_taken_and_given_back_is_lost(self, leases: LeaseStore) -> None:
        """
        Who was overtaken stays lost when the other one is done, even if the other one was itself.

        If this fails: a released name is renewed by whoever knew it, or by whoever has the holder's name.
        """
        lost = acquired(leases, "a", ttl_ms=100)
        for holder in ("b", "a"):
            leases.release(acquired(leases, holder, now_ms=T0 + 100, ttl_ms=100))

            with pytest.raises(LeaseLost):
                leases.renew(lost, now_ms=T0 + 101, ttl_ms=100)
            with pytest.raises(LeaseLost):
                leases.check(lost, now_ms=T0 + 50)

    def test_released_lease_cannot_be_renewed(self, leases: LeaseStore) -> None:
        """
        A released lease is lost at once.

        If this fails: release leaves holder, token and expiry as they were.
        """
        lease = acquired(leases, "a", ttl_ms=100)
        leases.release(lease)

        with pytest.raises(LeaseLost):
            leases.renew(lease, now_ms=T0 + 1, ttl_ms=100)

    def test_taken_lease_cannot_be_renewed(self, leases: LeaseStore) -> None:
        """
        Who was overtaken cannot renew, and the attempt does not disturb the new holder.

        If this fails: renew is missing the token or the holder in its condition.
        """
        lost = acquired(leases, "a", ttl_ms=100)
        mine = acquired(leases, "b", now_ms=T0 + 100, ttl_ms=100)

        with pytest.raises(LeaseLost):
            leases.renew(lost, now_ms=T0 + 101, ttl_ms=1000)
        leases.check(mine, now_ms=T0 + 199)
        assert leases.acquire("index", "c", now_ms=T0 + 200, ttl_ms=100)

    def test_old_token_cannot_be_renewed(self, leases: LeaseStore) -> None:
        """
        A holder that acquired again cannot renew with its first lease.

        If this fails: renew compares holders and forgets the token.
        """
        first, second = _twice(leases)

        with pytest.raises(LeaseLost):
            leases.renew(first, now_ms=T0 + 201, ttl_ms=100)
        leases.check(second, now_ms=T0 + 299)


class LeaseFenceContract(_LeaseContract):
    """The fence in front of every effect. Supply ``leases``: an EMPTY ``LeaseStore``."""

    def test_live_lease_passes(self, leases: LeaseStore) -> None:
        """
        A live lease passes until one millisecond before `expires_ms` and fails at it.

        If this fails: compare with `<=`, not `<`.
        """
        lease = acquired(leases, "a", ttl_ms=100)

        leases.check(lease, now_ms=T0 + 99)
        with pytest.raises(LeaseLost):
            leases.check(lease, now_ms=T0 + 100)

    def test_stored_expiry_counts(self, leases: LeaseStore) -> None:
        """
        A lease from before a renewal passes: what counts is the token and the stored expiry.

        If this fails: check reads `lease.expires_ms` instead of the store.
        """
        before = acquired(leases, "a", ttl_ms=100)
        leases.renew(before, now_ms=T0 + 50, ttl_ms=100)

        leases.check(before, now_ms=T0 + 149)

    def test_overtaken_lease_fails(self, leases: LeaseStore) -> None:
        """
        Once somebody else holds the name the old lease fails, whatever time its holder believes it is.

        If this fails: check looks at the time and forgets the token.
        """
        lost = acquired(leases, "a", ttl_ms=100)
        acquired(leases, "b", now_ms=T0 + 100)

        with pytest.raises(LeaseLost):
            leases.check(lost, now_ms=T0 + 50)

    def test_old_token_fails(self, leases: LeaseStore) -> None:
        """
        After the same holder acquired again, its first lease fails and the second passes.

        If this fails: check compares holders and forgets the token.
        """
        first, second = _twice(leases)

        with pytest.raises(LeaseLost):
            leases.check(first, now_ms=T0 + 200)
        leases.check(second, now_ms=T0 + 200)

    def test_other_holder_with_the_right_token_fails(self, leases: LeaseStore) -> None:
        """
        A token in somebody else's name is worth nothing.

        If this fails: check compares tokens and forgets the holder.
        """
        lease = acquired(leases, "a")

        with pytest.raises(LeaseLost):
            leases.check(lease._replace(holder="b"), now_ms=T0)

    def test_unknown_name_fails(self, leases: LeaseStore) -> None:
        """
        A lease on a name that nobody ever acquired is lost, and the error says whose and which.

        If this fails: a missing row is taken for a passing one.
        """
        with pytest.raises(LeaseLost) as lost:
            leases.check(Lease("index", "a", UNKNOWN, expires_ms=T0 + 100), now_ms=T0)

        assert (lost.value.name, lost.value.holder) == ("index", "a")


class LeaseReleaseContract(_LeaseContract):
    """Giving a lease back. Supply ``leases``: an EMPTY ``LeaseStore``."""

    def test_current_is_the_live_lease(self, leases: LeaseStore) -> None:
        """
        Anybody sees the live lease of a name as its holder has it; none before, at its expiry, or after its release.

        If this fails: expired or released rows are shown, or the boundary is one off.
        """
        assert leases.current("index", now_ms=T0) is None
        lease = leases.acquire("index", "a", now_ms=T0, ttl_ms=100)
        assert lease is not None

        assert leases.current("index", now_ms=T0 + 99) == lease
        assert leases.current("index", now_ms=T0 + 100) is None
        assert leases.current("other", now_ms=T0) is None
        leases.release(lease)
        assert leases.current("index", now_ms=T0) is None

    def test_a_lease_can_be_given_back_for_its_holder(self, leases: LeaseStore) -> None:
        """
        Releasing what `current` shows frees the name, and the holder is told by the fence.

        If this fails: only the object that acquired it can release a lease.
        """
        lease = leases.acquire("index", "a", now_ms=T0, ttl_ms=100)
        seen = leases.current("index", now_ms=T0)
        assert lease is not None
        assert seen is not None

        leases.release(seen)

        assert leases.acquire("index", "b", now_ms=T0, ttl_ms=100) is not None
        with pytest.raises(LeaseLost):
            leases.check(lease, now_ms=T0)

    def test_release_frees_the_name(self, leases: LeaseStore) -> None:
        """
        A released name is anyone's at once, and the lease no longer passes.

        If this fails: release does not touch the expiry.
        """
        lease = acquired(leases, "a", ttl_ms=100)

        leases.release(lease)

        with pytest.raises(LeaseLost):
            leases.check(lease, now_ms=T0)
        assert leases.acquire("index", "b", now_ms=T0, ttl_ms=100)

    def test_late_release_spares_the_new_holder(self, leases: LeaseStore) -> None:
        """
        Releasing a lease that was lost does not disturb who holds it now.

        If this fails: release finds the row by name and forgets the token.
        """
        lost = acquired(leases, "a", ttl_ms=100)
        mine = acquired(leases, "b", now_ms=T0 + 100, ttl_ms=100)

        leases.release(lost)

        leases.check(mine, now_ms=T0 + 199)
        assert leases.acquire("index", "c", now_ms=T0 + 199, ttl_ms=100) is None

    def test_release_with_an_old_token_spares_the_newer_lease(self, leases: LeaseStore) -> None:
        """
        A holder that acquired again does not lose its second lease by releasing the first.

        If this fails: release compares holders and forgets the token.
        """
        first, second = _twice(leases)

        leases.release(first)

        leases.check(second, now_ms=T0 + 200)

    def test_release_after_a_renewal(self, leases: LeaseStore) -> None:
        """
        The lease from before a renewal can still be given back: the token is the same.

        If this fails: release compares `expires_ms`, which a renewal moves.
        """
        before = acquired(leases, "a", ttl_ms=100)
        leases.renew(before, now_ms=T0 + 50, ttl_ms=1000)

        leases.release(before)

        assert leases.acquire("index", "b", now_ms=T0 + 51, ttl_ms=100)

    def test_release_twice_or_of_nothing(self, leases: LeaseStore) -> None:
        """
        Releasing twice, or what never was, raises nothing.

        If this fails: release asserts that it changed a row.
        """
        lease = acquired(leases, "a")

        leases.release(lease)
        leases.release(lease)
        leases.release(Lease("unknown", "a", UNKNOWN, expires_ms=T0))
