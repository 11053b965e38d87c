from __future__ import annotations

import json

from clawmem.adapters.sqlite.database import Database
from clawmem.ports.errors import InvalidInput
from clawmem.ports.notes import ATTEMPTS, RULES, Note, NoteCounts

_ALL = """
select notes.document_id, keywords, notes.tags, context, notes.origin, written_at, cause, version, reason
  from notes join documents on documents.id = notes.document_id and inactive is null
 where notes.document_id = ? order by version
"""
_LAST = "select version, keywords, tags, context, origin from notes where document_id = ? order by version desc limit 1"
_PUT = """
insert into notes (document_id, version, keywords, tags, context, origin, written_at, cause, reason)
values (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_WAITING = f"""
select documents.id from documents left join enriched on enriched.document_id = documents.id
 where documents.inactive is null and documents.id > :after
   and (enriched.source_hash is null or enriched.source_hash <> documents.source_hash
        or (:by_model and not by_model and failures < {ATTEMPTS}))
 order by documents.id limit :limit
"""
_SETTLE = """
insert into enriched (document_id, source_hash, by_model) values (?1, ?2, ?3)
on conflict (document_id) do update
   set by_model = max(excluded.by_model, case source_hash when excluded.source_hash then by_model else 0 end),
       failures = case when excluded.by_model or source_hash <> excluded.source_hash then 0 else failures end,
       error = case when excluded.by_model or source_hash <> excluded.source_hash then null else error end,
       source_hash = excluded.source_hash
"""
_FAIL = """
insert into enriched (document_id, source_hash, by_model, failures, error) values (?1, ?2, 0, 1, ?3)
on conflict (document_id) do update
   set failures = case source_hash when excluded.source_hash then failures + 1 else 1 end,
       by_model = case source_hash when excluded.source_hash then by_model else 0 end,
       error = excluded.error, source_hash = excluded.source_hash
returning failures
"""
_COUNTS = f"""
select count(latest.origin), coalesce(sum(latest.origin <> '{RULES}'), 0),
       coalesce(sum(enriched.source_hash is null or enriched.source_hash <> documents.source_hash), 0),
       coalesce(sum(enriched.source_hash = documents.source_hash and failures >= {ATTEMPTS}), 0)
  from documents left join enriched on enriched.document_id = documents.id
  left join (select document_id, origin, max(version) from notes group by document_id) as latest
         on latest.document_id = documents.id
 where inactive is null
"""
_CAUSED = "select document_id, min(version) from notes where cause = ? and document_id <> cause group by document_id"


class SqliteNotes:
    """``NoteStore`` in two tables of the vault."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def get(self, document_id: int) -> Note | None:
        return next(reversed(self.history(document_id)), None)

    def history(self, document_id: int) -> list[Note]:
        return [_note(*row) for row in self._db.rows(_ALL, (document_id,))]

    def put(self, note: Note) -> int:
        written = (*(json.dumps(part) for part in (note.keywords, note.tags)), note.context, note.origin)
        with self._db.atomic():
            if not self._db.value("select 1 from documents where id = ?", (note.document_id,)):
                raise InvalidInput(
                    "INVALID_INPUT", f"There is no document {note.document_id}, so it cannot have a note."
                )
            last = self._db.row(_LAST, (note.document_id,))
            if last is not None and last[1:] == written:
                return int(last[0])
            version = last[0] + 1 if last else 1
            why = (note.written_at, note.cause, note.reason)
            self._db.write(_PUT, (note.document_id, version, *written, *why))
        return int(version)

    def waiting(self, limit: int, *, by_model: bool, after: int = 0) -> list[int]:
        asked = {"limit": max(limit, 0), "by_model": by_model, "after": after}
        return [number for (number,) in self._db.rows(_WAITING, asked)]

    def settle(self, document_id: int, source_hash: str, *, by_model: bool) -> None:
        self._db.write(_SETTLE, (document_id, source_hash, by_model))

    def fail(self, document_id: int, source_hash: str, error: str) -> int:
        [(failures,)] = self._db.write(_FAIL, (document_id, source_hash, error))
        return int(failures)

    def counts(self) -> NoteCounts:
        return NoteCounts(*self._db.rows(_COUNTS)[0])

    def forget(self, document_id: int) -> int:
        with self._db.atomic():
            gone = self._dropped(document_id, 0)
            self._db.write("delete from enriched where document_id = ?", (document_id,))
            for other, version in self._db.rows(_CAUSED, (document_id,)):
                gone += self._dropped(other, version)
                self._db.write("delete from enriched where document_id = ?", (other,))
        return gone

    def _dropped(self, document_id: int, version: int) -> int:
        """Delete the notes about a document from *version* on, and return their number."""
        sql = "delete from notes where document_id = ? and version >= ? returning version"
        return len(self._db.write(sql, (document_id, version)))


def _note(document_id: int, keywords: str, tags: str, *rest: object) -> Note:
    return Note(document_id, tuple(json.loads(keywords)), tuple(json.loads(tags)), *rest)  # type: ignore[arg-type]
