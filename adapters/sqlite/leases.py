from __future__ import annotations

import secrets

from clawmem.adapters.sqlite.database import Database
from clawmem.ports.errors import LeaseLost
from clawmem.ports.records import Lease

# The rules of `clawmem.domain.maintenance.lease`. Each operation is one statement, so no other process can come between
# check and write.
_IS_LIVE = "expires_ms > :now"
_IS_CURRENT = "name = :name and holder = :holder and token = :token"
_ACQUIRE = f"""
insert into leases (name, holder, token, expires_ms) values (:name, :holder, :token, :until)
on conflict (name) do update set holder = :holder, token = :token, expires_ms = :until
 where not {_IS_LIVE}
returning token
"""
_RENEW = f"update leases set expires_ms = :until where {_IS_CURRENT} returning token"
_CURRENT = f"select name, holder, token, expires_ms from leases where name = :name and {_IS_LIVE}"
_CHECK = f"select 1 from leases where {_IS_CURRENT} and {_IS_LIVE}"
_RELEASE = f"delete from leases where {_IS_CURRENT}"


class SqliteLeases:
    """``LeaseStore`` in one table of the vault."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def acquire(self, name: str, holder: str, *, now_ms: int, ttl_ms: int) -> Lease | None:
        lease = Lease(name, holder, secrets.token_hex(16), now_ms + ttl_ms)
        rows = self._db.write(_ACQUIRE, {**_named(lease), "until": lease.expires_ms, "now": now_ms})
        return lease if rows else None

    def current(self, name: str, *, now_ms: int) -> Lease | None:
        row = self._db.row(_CURRENT, {"name": name, "now": now_ms})
        return Lease(*row) if row else None

    def renew(self, lease: Lease, *, now_ms: int, ttl_ms: int) -> Lease:
        until = now_ms + ttl_ms
        if not self._db.write(_RENEW, {**_named(lease), "until": until}):
            raise LeaseLost(lease.name, lease.holder)
        return lease._replace(expires_ms=until)

    def check(self, lease: Lease, *, now_ms: int) -> None:
        if not self._db.write(_CHECK, {**_named(lease), "now": now_ms}):
            raise LeaseLost(lease.name, lease.holder)

    def release(self, lease: Lease) -> None:
        self._db.write(_RELEASE, _named(lease))


def _named(lease: Lease) -> dict[str, str | int]:
    return {"name": lease.name, "holder": lease.holder, "token": lease.token}
