from __future__ import annotations

from clawmem.ports.errors import LeaseLost
from clawmem.ports.records import Lease


class MemoryLeases:
    """``LeaseStore`` for the threads of one process at most: the reference to read first."""

    def __init__(self) -> None:
        # The newest lease of each name stays when it is over: its token must never be given again.
        self._newest: dict[str, Lease] = {}

    def acquire(self, name: str, holder: str, *, now_ms: int, ttl_ms: int) -> Lease | None:
        newest = self._newest.get(name)
        if newest and newest.expires_ms > now_ms and newest.holder != holder:
            return None
        token = newest.token + 1 if newest else 1
        self._newest[name] = Lease(name, holder, token, now_ms + ttl_ms)
        return self._newest[name]

    def current(self, name: str, *, now_ms: int) -> Lease | None:
        newest = self._newest.get(name)
        return newest if newest and newest.expires_ms > now_ms else None

    def renew(self, lease: Lease, *, now_ms: int, ttl_ms: int) -> Lease:
        self.check(lease, now_ms=now_ms)
        self._newest[lease.name] = lease._replace(expires_ms=now_ms + ttl_ms)
        return self._newest[lease.name]

    def check(self, lease: Lease, *, now_ms: int) -> None:
        if not self._is_newest(lease) or self._newest[lease.name].expires_ms <= now_ms:
            raise LeaseLost(lease.name, lease.holder)

    def release(self, lease: Lease) -> None:
        if self._is_newest(lease):
            self._newest[lease.name] = lease._replace(expires_ms=0)

    def _is_newest(self, lease: Lease) -> bool:
        newest = self._newest.get(lease.name)
        return newest is not None and (newest.holder, newest.token) == (lease.holder, lease.token)
