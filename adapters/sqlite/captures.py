from __future__ import annotations

from clawmem.adapters.sqlite.database import Database
from clawmem.ports.captures import Cursor, Sighting

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


class SqliteCaptures:
    """``CaptureStore`` in two tables of the vault; a trigger maintains the counts of the documents."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def cursor(self, session_id: str, reader: str) -> Cursor:
        row = self._db.row(_CURSOR, (session_id, reader))
        return Cursor(*row) if row else Cursor()

    def advance(self, session_id: str, reader: str, cursor: Cursor) -> None:
        self._db.write(_ADVANCE, (session_id, reader, *cursor))

    def add(self, sighting: Sighting) -> bool:
        with self._db.atomic():
            if self.is_known(sighting.source):
                return False
            self._db.write(_ADD, tuple(sighting))
        return True

    def is_known(self, source: str) -> bool:
        return self._db.row("select 1 from sightings where source = ?", (source,)) is not None

    def earliest(self, payload: str, content_type: str, since: str = "") -> Sighting | None:
        row = self._db.row(_EARLIEST, (payload, content_type, since))
        return Sighting(*row) if row else None

    def sightings(self, document_id: int) -> list[Sighting]:
        return [Sighting(*row) for row in self._db.rows(_SIGHTINGS, (document_id,))]

    def count_as(self, document_id: int, times: int) -> None:
        self._db.write("update documents set duplicate_count = ? where id = ?", (times, document_id))

    def forget(self, document_id: int) -> int:
        self._db.write("update sightings set quote = '', payload = '' where document_id = ?", (document_id,))
        return self._db.changes()
