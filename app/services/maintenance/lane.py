"""Work that one process at a time does for a vault, whichever of several that could."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from clawmem.ports.clock import Clock
from clawmem.ports.errors import LeaseLost, VaultError
from clawmem.ports.lease import LeaseStore
from clawmem.ports.records import Lease

LEASE_MS = 30_000  # also for how long nobody works after a process died on another machine
RENEWED_EVERY_MS = 10_000


class Lane:
    """
    The right to do *name*, kept by renewing it.

    Work that outlasts the lease must be harmless when two do it, or ask `check` in the transaction of each effect:
    the lease alone spares work, it guards nothing.
    """

    def __init__(
        self,
        name: str,
        leases: LeaseStore,
        clock: Clock,
        holder: str,
        is_gone: Callable[[str], bool],
        *,
        lease_ms: int = LEASE_MS,
    ) -> None:
        self._name = name
        self._leases = leases
        self._clock = clock
        self._holder = holder
        self._is_gone = is_gone
        self._lease_ms = lease_ms
        self._lease: Lease | None = None

    def enter(self) -> bool:
        """
        Take the right, at once also that of a process that was killed; False while another one has it.

        Raises:
            VaultError: the vault cannot be written just now.
        """
        if who := self.taken_by():
            if not self._is_gone(who.holder):
                return False
            self._leases.release(who)
        now_ms = self._clock.now_ms()
        self._lease = self._leases.acquire(self._name, self._holder, now_ms=now_ms, ttl_ms=self._lease_ms)
        return self._lease is not None

    def taken_by(self) -> Lease | None:
        """Who has the right, if anybody."""
        return self._leases.current(self._name, now_ms=self._clock.now_ms())

    def keep(self) -> None:
        """
        Renew the right when that is due, even when it ran out meanwhile and nobody else took it; to be called often.

        Raises:
            LeaseLost: another process has it now, or had it since and may have worked.
        """
        lease, now_ms = self._lease, self._clock.now_ms()
        if lease is None or lease.expires_ms - now_ms > self._lease_ms - RENEWED_EVERY_MS:
            return
        try:
            self._lease = self._leases.renew(lease, now_ms=now_ms, ttl_ms=self._lease_ms)
        except VaultError:
            return  # somebody writes; there is time to try again

    def check(self) -> None:
        """
        The fence: pass while the right is held, with the token that was given for it.

        Raises:
            LeaseLost: otherwise; what the transaction around it did must not be kept.
        """
        if self._lease is None:
            raise LeaseLost(self._name, self._holder)
        self._leases.check(self._lease, now_ms=self._clock.now_ms())

    def leave(self) -> None:
        """Give the right back; where that is not possible it expires."""
        lease, self._lease = self._lease, None
        if lease:
            with suppress(VaultError):
                self._leases.release(lease)
