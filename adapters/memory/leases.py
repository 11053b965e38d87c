from __future__ import annotations

from clawmem.ports.errors import LeaseLost
from clawmem.ports.records import Lease


class MemoryLeases:
    """Reference ``LeaseStore`` for the threads of one process."""

    def __init__(self) -> None:
        self._last: dict[str, Lease] = {}  # by name; a lease that was not released may have expired

    def acquire(self, name: str, holder: str, *, now_ms: int, ttl_ms: int) -> Lease | None:
        import secrets

        if self.current(name, now_ms=now_ms):
            return None
        self._last[name] = Lease(name, holder, secrets.token_hex(16), now_ms + ttl_ms)
        return self._last[name]

    def current(self, name: str, *, now_ms: int) -> Lease | None:
        last = self._last.get(name)
        return last if last and last.expires_ms > now_ms else None

    def renew(self, lease: Lease, *, now_ms: int, ttl_ms: int) -> Lease:
        if not self._is_last(lease):
            raise LeaseLost(lease.name, lease.holder)
        self._last[lease.name] = lease._replace(expires_ms=now_ms + ttl_ms)
        return self._last[lease.name]

    def check(self, lease: Lease, *, now_ms: int) -> None:
        if not (self._is_last(lease) and self.current(lease.name, now_ms=now_ms)):
            raise LeaseLost(lease.name, lease.holder)

    def release(self, lease: Lease) -> None:
        if self._is_last(lease):
            del self._last[lease.name]

    def _is_last(self, lease: Lease) -> bool:
        last = self._last.get(lease.name)
        return last is not None and (last.holder, last.token) == (lease.holder, lease.token)
