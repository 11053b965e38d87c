"""Work sessions, and the memories that were captured in them."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import astuple
from itertools import combinations

from clawmem.adapters.sqlite.store import Store
from clawmem.ports.sessions import Cursor, Session, Sighting

_SELECT = "select id, started_at, ended_at, handoff_path, summary, files_changed, machine from sessions"
_RECENT = f"{_SELECT} where :before is null or started_at < :before order by started_at desc, id limit :limit"
_COVERING = f"""
{_SELECT} where started_at <= :moment and (ended_at is null or ended_at >= :moment)
 order by started_at desc, id limit 1
"""


class SqliteSessions(Store):
    """``SessionStore`` in one table of the vault."""

    def save(self, session: Session) -> None:
        *row, files, machine = astuple(session)
        row += [json.dumps(files, ensure_ascii=False), machine]
        self._db.write("insert or replace into sessions values (?, ?, ?, ?, ?, ?, ?)", row)

    def get(self, session_id: str) -> Session | None:
        return next(iter(self._sessions(f"{_SELECT} where id = :id", {"id": session_id})), None)

    def recent(self, limit: int, before: str | None = None) -> list[Session]:
        return self._sessions(_RECENT, {"limit": max(limit, 0), "before": before})

    def covering(self, moment: str) -> Session | None:
        return next(iter(self._sessions(_COVERING, {"moment": moment})), None)

    def _sessions(self, sql: str, bindings: Mapping[str, str | int | None]) -> list[Session]:
        rows = self._db.rows(sql, bindings)
        return [Session(*(*row[:5], tuple(json.loads(row[5])), row[6])) for row in rows]


_COLUMNS = ", ".join(Sighting._fields)
_CURSOR = 'select line, "offset", turns from capture_cursors where session_id = ? and reader = ?'
_ADVANCE = "insert or replace into capture_cursors values (?, ?, ?, ?, ?)"
_ADD = f"insert or ignore into sightings ({_COLUMNS}) values ({', '.join('?' * len(Sighting._fields))})"
_EARLIEST = f"""
select {_COLUMNS} from sightings
 where payload = ? and content_type = ? and seen_at >= ?
   and document_id in (select id from documents where inactive is null)
 order by seen_at, source limit 1
"""
_SIGHTINGS = f"select {_COLUMNS} from sightings where document_id = ? order by seen_at, source"


class SqliteCaptures(Store):
    """``CaptureStore`` in two tables of the vault; a trigger maintains the counts of the documents."""

    def cursor(self, session_id: str, reader: str) -> Cursor:
        row = self._db.row(_CURSOR, (session_id, reader))
        return Cursor(*row) if row else Cursor()

    def advance(self, session_id: str, reader: str, cursor: Cursor) -> None:
        self._db.write(_ADVANCE, (session_id, reader, *cursor))

    def add(self, sighting: Sighting) -> bool:
        return self._db.change(_ADD, sighting) > 0

    def is_known(self, source: str) -> bool:
        return self._db.row("select 1 from sightings where source = ?", (source,)) is not None

    def earliest(self, payload: str, content_type: str, since: str = "") -> Sighting | None:
        row = self._db.row(_EARLIEST, (payload, content_type, since))
        return Sighting(*row) if row else None

    def sightings(self, document_id: int) -> list[Sighting]:
        return [Sighting(*row) for row in self._db.rows(_SIGHTINGS, (document_id,))]

    def count_as(self, document_id: int, times: int) -> None:
        self._db.write("update documents set duplicate_count = ? where id = ?", (times, document_id))


_ACCESSED = """
update documents set access_count = access_count + 1, last_accessed_at = :at where id = :id
"""
_TOGETHER = """
insert into co_activations values (:one, :other, 1, :at)
    on conflict do update set count = count + 1, last_seen = :at
"""
_PARTNERS = """
select other as partner, count from co_activations where one = :id
union all
select one as partner, count from co_activations where other = :id
 order by count desc, partner
"""


class SqliteUsage(Store):
    """``UsageStore`` in two tables of the vault, and in the access columns of documents."""

    def note(self, used: Iterable[int], at: str) -> None:
        sql = "select id from documents where id in (select value from json_each(?)) order by id"
        with self._db.atomic():
            known = self._db.values(sql, (json.dumps(list(used)),))
            self._db.write_many(_ACCESSED, [{"id": number, "at": at} for number in known])
            pairs = combinations(known, 2)
            self._db.write_many(_TOGETHER, [{"one": a, "other": b, "at": at} for a, b in pairs])

    def partners(self, document_id: int) -> Mapping[int, int]:
        return dict(self._db.rows(_PARTNERS, {"id": document_id}))
