from __future__ import annotations

from collections.abc import Iterable, Mapping

from clawmem.adapters.sqlite.connections import Row
from clawmem.adapters.sqlite.database import Database
from clawmem.ports.acts import Act, ActEntry

_SELECT = "select document_id, act, by, at, why, before, id from acts"
_ADD = "insert into acts (document_id, act, by, at, why, before) values (?, ?, ?, ?, ?, ?) returning id"
_LATEST = f"{_SELECT} where :document is null or document_id = :document order by id desc limit :limit"
# A select with max() takes the other columns from the row that holds the maximum (a SQLite guarantee).
_LAST = "select document_id, at, max(id) from acts where act = ? group by document_id"


class SqliteActs:
    """``ActJournal`` in one table of the vault."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def add(self, entries: Iterable[ActEntry]) -> list[int]:
        with self._db.atomic():
            return [int(self._db.write(_ADD, tuple(entry[:-1]))[0][0]) for entry in entries]

    def get(self, act_id: int) -> ActEntry | None:
        row = self._db.row(f"{_SELECT} where id = ?", (act_id,))
        return _entry(row) if row else None

    def latest(self, limit: int, document_id: int | None = None) -> list[ActEntry]:
        rows = self._db.rows(_LATEST, {"document": document_id, "limit": max(limit, 0)})
        return [_entry(row) for row in rows]

    def last(self, act: Act) -> Mapping[int, str]:
        return {row[0]: row[1] for row in self._db.rows(_LAST, (act.value,))}

    def forget(self, document_id: int) -> int:
        self._db.write("update acts set why = '' where document_id = ? and why <> ''", (document_id,))
        return self._db.changes()


def _entry(row: Row) -> ActEntry:
    document_id, act, *rest = row
    return ActEntry(document_id, Act(act), *rest)
