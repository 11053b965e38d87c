"""Changes that external indexes still have to apply, and leases."""

import secrets
from collections.abc import Sequence

from clawmem.adapters.sqlite.store import Store
from clawmem.ports.errors import LeaseLost
from clawmem.ports.indexes import Changes
from clawmem.ports.records import IndexRecord, IndexState, Marker, Role
from clawmem.ports.storage import Lease

_INDEXES = """
select role, engine, generation, state, since_seq, since_epoch, outdated
  from indexes order by role, generation
"""
_REGISTER = """
insert into indexes (role, engine, state, since_seq, since_epoch) values (?, ?, 'building', ?, ?) returning generation
"""
_TRIM = "delete from outbox where seq < (select min(since_seq) from indexes where state <> 'retired')"
_AFTER = "select seq, epoch, document_id, is_text from outbox where seq > ? order by seq limit ?"


class SqliteOutbox(Store):
    """``Outbox`` in two tables; triggers on the records append the changes."""

    def head(self) -> Marker:
        row = self._db.row("select seq, epoch from outbox order by seq desc limit 1")
        return self._marker(*(row or (0, "")))

    def knows(self, marker: Marker) -> bool:
        epoch = self._db.value("select epoch from outbox where seq = ?", (marker.seq,))
        if marker != self._marker(marker.seq, epoch or ""):
            return False
        # without an epoch, only the beginning of an outbox that was never used is known
        return epoch is not None or not self._db.value("select 1 from sqlite_sequence where name = 'outbox'")

    def after(self, marker: Marker, role: Role, limit: int | None = None) -> Changes:
        rows = self._db.rows(_AFTER, (marker.seq, -1 if limit is None else max(limit, 0)))
        if not rows:
            return Changes((), marker)
        seq, epoch, *_ = rows[-1]
        changed = [number for _, _, number, is_text in rows if number and (is_text or role is Role.VECTORS)]
        return Changes(tuple(dict.fromkeys(changed)), self._marker(seq, epoch))

    def indexes(self) -> Sequence[IndexRecord]:
        return [
            IndexRecord(Role(role), engine, number, IndexState(state), self._marker(*since), bool(outdated))
            for role, engine, number, state, *since, outdated in self._db.rows(_INDEXES)
        ]

    def register(self, role: Role, engine: str) -> IndexRecord:
        sql = "insert into outbox (document_id, is_text) values (0, 0) returning seq, epoch"
        with self._db.atomic():
            # A change of its own gives the starting point of every index an epoch.
            seq, epoch = self._db.write(sql)[0]
            generation = self._db.write(_REGISTER, (role.value, engine, seq, epoch))[0][0]
        return IndexRecord(role, engine, generation, IndexState.BUILDING, self._marker(seq, epoch))

    def seen(self, record: IndexRecord, marker: Marker) -> None:
        sql = "update indexes set since_seq = ?, since_epoch = ? where generation = ?"
        with self._db.atomic():
            self._db.write(sql, (marker.seq, marker.epoch, record.generation))
            self._db.write(_TRIM)

    def serve(self, record: IndexRecord | None, role: Role) -> None:
        sql = "update indexes set state = 'retired' where role = ? and state = 'serving'"
        with self._db.atomic():
            self._db.write(sql, (role.value,))
            if record:
                sql = "update indexes set state = 'serving' where generation = ?"
                self._db.write(sql, (record.generation,))

    def unregister(self, record: IndexRecord) -> None:
        with self._db.atomic():
            self._db.write("delete from indexes where generation = ?", (record.generation,))
            self._db.write("delete from outbox where not exists (select 1 from indexes)")

    def _marker(self, seq: int, epoch: str) -> Marker:
        return Marker(str(self._db.meta("vault_id")), seq, epoch)


# The rules of `clawmem.domain.maintenance.lease`. Each operation is one statement, so no other process can come between
# check and write.
_IS_LIVE = "expires_ms > :now"
_IS_CURRENT = "name = :name and holder = :holder and token = :token"
_ACQUIRE = f"""
insert into leases (name, holder, token, expires_ms) values (:name, :holder, :token, :expires_ms)
on conflict (name) do update set holder = :holder, token = :token, expires_ms = :expires_ms
 where not {_IS_LIVE}
returning token
"""
_RENEW = f"update leases set expires_ms = :expires_ms where {_IS_CURRENT} returning token"
_CURRENT = f"select name, holder, token, expires_ms from leases where name = :name and {_IS_LIVE}"
_CHECK = f"select 1 from leases where {_IS_CURRENT} and {_IS_LIVE}"


class SqliteLeases(Store):
    """``LeaseStore`` in one table of the vault."""

    def acquire(self, name: str, holder: str, *, now_ms: int, ttl_ms: int) -> Lease | None:
        lease = Lease(name, holder, secrets.token_hex(16), now_ms + ttl_ms)
        rows = self._db.write(_ACQUIRE, {**lease._asdict(), "now": now_ms})
        return lease if rows else None

    def current(self, name: str, *, now_ms: int) -> Lease | None:
        row = self._db.row(_CURRENT, {"name": name, "now": now_ms})
        return Lease(*row) if row else None

    def renew(self, lease: Lease, *, now_ms: int, ttl_ms: int) -> Lease:
        renewed = lease._replace(expires_ms=now_ms + ttl_ms)
        if not self._db.write(_RENEW, renewed._asdict()):
            raise LeaseLost(lease.name, lease.holder)
        return renewed

    def check(self, lease: Lease, *, now_ms: int) -> None:
        if not self._db.write(_CHECK, {**lease._asdict(), "now": now_ms}):
            raise LeaseLost(lease.name, lease.holder)

    def release(self, lease: Lease) -> None:
        self._db.write(f"delete from leases where {_IS_CURRENT}", lease._asdict())
