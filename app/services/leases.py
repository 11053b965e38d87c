"""Lease that lets one process do a work."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from clawmem.ports.clock import Clock
from clawmem.ports.errors import LeaseLost, VaultError
from clawmem.ports.storage import Lease, LeaseStore

LEASE_MS = 30_000  # also the pause in work after a process on another machine died
RENEWED_EVERY_MS = 10_000


@dataclass(slots=True)
class WorkLease:
    """
    Renewable lease on the work *name*.

    The lease only avoids duplicate work; it does not protect data. Work that may outlast the lease must be safe when
    two processes do it, or call `check` in the transaction of each effect.
    """

    name: str
    leases: LeaseStore
    clock: Clock
    holder: str
    is_gone: Callable[[str], bool]
    lease_ms: int = LEASE_MS
    _lease: Lease | None = field(default=None, init=False)

    def acquire(self) -> bool:
        """
        Acquire the lease, taking it over at once from a killed process; False while another process holds it.

        Raises:
            VaultError: the vault cannot be written at the moment.
        """
        if current := self.current():
            if not self.is_gone(current.holder):
                return False
            self.leases.release(current)
        now_ms = self.clock.now_ms()
        self._lease = self.leases.acquire(self.name, self.holder, now_ms=now_ms, ttl_ms=self.lease_ms)
        return self._lease is not None

    def current(self) -> Lease | None:
        """Return the current lease, or ``None`` if no process holds it."""
        return self.leases.current(self.name, now_ms=self.clock.now_ms())

    def renew(self) -> None:
        """
        Renew the lease when renewal is due, also after it expired if no other process took it. Call this often.

        Raises:
            LeaseLost: another process holds the lease, or held it in between and may have worked.
        """
        lease, now_ms = self._lease, self.clock.now_ms()
        if lease is None or lease.expires_ms - now_ms > self.lease_ms - RENEWED_EVERY_MS:
            return
        try:
            self._lease = self.leases.renew(lease, now_ms=now_ms, ttl_ms=self.lease_ms)
        except VaultError:
            return  # another process is writing; the next call tries again

    def check(self) -> None:
        """
        Pass while this process holds the lease with its current fencing token.

        Raises:
            LeaseLost: otherwise; the surrounding transaction must be rolled back.
        """
        if self._lease is None:
            raise LeaseLost(self.name, self.holder)
        self.leases.check(self._lease, now_ms=self.clock.now_ms())

    def release(self) -> None:
        """Release the lease; if that fails, it expires."""
        lease, self._lease = self._lease, None
        if lease:
            with suppress(VaultError):
                self.leases.release(lease)
