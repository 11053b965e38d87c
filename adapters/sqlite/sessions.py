from __future__ import annotations

import json

from clawmem.adapters.sqlite.connections import Row
from clawmem.adapters.sqlite.database import Database
from clawmem.ports.sessions import Session

_SELECT = "select id, started_at, ended_at, handoff_path, summary, files_changed, machine from sessions"
_START = """
insert into sessions (id, started_at, machine) values (?, ?, ?) on conflict (id) do update set ended_at = null
"""
_SAVE = "insert or replace into sessions values (?, ?, ?, ?, ?, ?, ?)"
_RECENT = "where :before is null or started_at < :before order by started_at desc, id limit :limit"
_COVERING = """
where started_at <= :moment and (ended_at is null or ended_at >= :moment) order by started_at desc, id limit 1
"""

_FORGET = """
update sessions set summary = '', files_changed = '[]'
 where handoff_path = ? and (summary <> '' or files_changed <> '[]')
"""


class SqliteSessions:
    """``SessionStore`` in one table of the vault."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def start(self, session_id: str, started_at: str, machine: str = "") -> None:
        self._db.write(_START, (session_id, started_at, machine))

    def end(self, session_id: str, ended_at: str) -> bool:
        self._db.write("update sessions set ended_at = ? where id = ?", (ended_at, session_id))
        return self._db.changes() > 0

    def save(self, session: Session) -> None:
        times = (session.id, session.started_at, session.ended_at)
        files = json.dumps(session.files_changed, ensure_ascii=False)
        self._db.write(_SAVE, (*times, session.handoff_path, session.summary, files, session.machine))

    def get(self, session_id: str) -> Session | None:
        return _session(self._db.row(f"{_SELECT} where id = ?", (session_id,)))

    def forget(self, handoff_path: str) -> int:
        self._db.write(_FORGET, (handoff_path,))
        return self._db.changes()

    def recent(self, limit: int, before: str | None = None) -> list[Session]:
        rows = self._db.rows(f"{_SELECT} {_RECENT}", {"limit": max(limit, 0), "before": before})
        return [found for row in rows if (found := _session(row))]

    def covering(self, moment: str) -> Session | None:
        return _session(self._db.row(f"{_SELECT} {_COVERING}", {"moment": moment}))


def _session(row: Row | None) -> Session | None:
    if row is None:
        return None
    session_id, started_at, ended_at, handoff_path, summary, files, machine = row
    return Session(session_id, started_at, ended_at, handoff_path, summary, tuple(json.loads(files)), machine)
