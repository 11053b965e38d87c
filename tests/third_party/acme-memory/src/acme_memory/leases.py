from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

from acme_memory.json_file import JsonFile

from clawmem.ports.errors import LeaseLost
from clawmem.ports.storage import Lease


class JsonLeases:
    """``LeaseStore`` in a JSON file: the newest lease of each name that was not given back, be it over or not."""

    def __init__(self, path: Path) -> None:
        self._file = JsonFile(path)

    def acquire(self, name: str, holder: str, *, now_ms: int, ttl_ms: int) -> Lease | None:
        with self._file.changing() as leases:
            newest = self._newest(leases, name)
            if newest and self._is_live(newest, now_ms):
                return None
            lease = Lease(name, holder, self._token(holder), now_ms + ttl_ms)
            leases[name] = lease._asdict()
        return lease

    def current(self, name: str, *, now_ms: int) -> Lease | None:
        newest = self._newest(self._file.read(), name)
        return newest if newest and self._is_live(newest, now_ms) else None

    def renew(self, lease: Lease, *, now_ms: int, ttl_ms: int) -> Lease:
        with self._file.changing() as leases:
            if not self._is_newest(leases, lease):
                raise LeaseLost(lease.name, lease.holder)
            renewed = lease._replace(expires_ms=now_ms + ttl_ms)
            leases[lease.name] = renewed._asdict()
        return renewed

    def check(self, lease: Lease, *, now_ms: int) -> None:
        self._check(self._file.read(), lease, now_ms)

    def release(self, lease: Lease) -> None:
        with self._file.changing() as leases:
            if self._is_newest(leases, lease):
                del leases[lease.name]

    def _check(self, leases: dict[str, Any], lease: Lease, now_ms: int) -> None:
        newest = self._newest(leases, lease.name)
        if not newest or not self._is_newest(leases, lease) or not self._is_live(newest, now_ms):
            raise LeaseLost(lease.name, lease.holder)

    def _is_newest(self, leases: dict[str, Any], lease: Lease) -> bool:
        newest = self._newest(leases, lease.name)
        return newest is not None and (newest.holder, newest.token) == (lease.holder, lease.token)

    def _newest(self, leases: dict[str, Any], name: str) -> Lease | None:
        return Lease(**leases[name]) if name in leases else None

    def _is_live(self, lease: Lease, now_ms: int) -> bool:
        return now_ms < lease.expires_ms

    def _token(self, holder: str) -> str:
        return secrets.token_hex(16)
