"""Generated notes about documents, and the properties that documents declare."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from clawmem.adapters.sqlite.store import Store, condition
from clawmem.ports.documents import Property, PropertyFilter
from clawmem.ports.knowledge import ATTEMPTS, RULES, Note, NoteCounts
from clawmem.ports.records import EVERYTHING, Scope

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


class SqliteNotes(Store):
    """``NoteStore`` in two tables of the vault."""

    def get(self, document_id: int) -> Note | None:
        return next(reversed(self.history(document_id)), None)

    def history(self, document_id: int) -> list[Note]:
        return [
            Note(number, tuple(json.loads(keywords)), tuple(json.loads(tags)), *rest)
            for number, keywords, tags, *rest in self._db.rows(_ALL, (document_id,))
        ]

    def put(self, note: Note) -> int:
        written = (*(json.dumps(part) for part in (note.keywords, note.tags)), note.context, note.origin)
        with self._db.atomic():
            last = self._db.row(_LAST, (note.document_id,))
            if last is not None and last[1:] == written:
                return int(last[0])
            version = last[0] + 1 if last else 1
            why = (note.written_at, note.cause, note.reason)
            self._db.write(_PUT, (note.document_id, version, *written, *why))
        return int(version)

    def waiting(self, limit: int, *, by_model: bool, after: int = 0) -> list[int]:
        return self._db.values(_WAITING, {"limit": max(limit, 0), "by_model": by_model, "after": after})

    def settle(self, document_id: int, source_hash: str, *, by_model: bool) -> None:
        self._db.write(_SETTLE, (document_id, source_hash, by_model))

    def fail(self, document_id: int, source_hash: str, error: str) -> int:
        [(failures,)] = self._db.write(_FAIL, (document_id, source_hash, error))
        return int(failures)

    def counts(self) -> NoteCounts:
        return NoteCounts(*self._db.rows(_COUNTS)[0])

    def forget(self, document_id: int) -> int:
        with self._db.atomic():
            count = 0
            for number, version in [(document_id, 0), *self._db.rows(_CAUSED, (document_id,))]:
                sql = "delete from notes where document_id = ? and version >= ?"
                count += self._db.change(sql, (number, version))
                self._db.write("delete from enriched where document_id = ?", (number,))
        return count


_MANY = """
select document_id, name, value, coalesce(key, value) from properties
 where document_id in (select value from json_each(?)) order by document_id, seq
"""
_NAMED = """
select document_id, name, value, coalesce(key, value) from properties
  join documents on id = document_id and inactive is null
 where name = ? collate nocase order by document_id, seq
"""
_NAMES = """
select min(name), count(distinct document_id) from properties
  join documents on id = document_id and inactive is null
 group by name collate nocase order by 1
"""
_VALUES = """
select min(value), count(distinct document_id) as number from properties
  join documents on id = document_id and {within}
 where name = :name collate nocase group by coalesce(key, value) order by number desc, coalesce(key, value)
"""
_HAVING = """
select document_id from properties
 where name = :name collate nocase and case when :key is null then value <> '' else coalesce(key, value) = :key end
"""


class SqliteProperties(Store):
    """``PropertyStore`` in one table; the form for comparison is stored where it differs from the value."""

    def put(self, document_id: int, properties: Iterable[Property]) -> None:
        with self._db.atomic():
            self._db.write("delete from properties where document_id = ?", (document_id,))
            rows = [
                (document_id, seq, name, value, key if key != value else None)
                for seq, (name, value, key) in enumerate(properties)
            ]
            self._db.write_many("insert into properties values (?, ?, ?, ?, ?)", rows)

    def many(self, document_ids: Iterable[int]) -> dict[int, list[Property]]:
        return self._by_document(_MANY, json.dumps([*document_ids]))

    def named(self, name: str) -> Mapping[int, Sequence[Property]]:
        return self._by_document(_NAMED, name)

    def names(self) -> Mapping[str, int]:
        return dict(self._db.rows(_NAMES))

    def values(self, name: str, scope: Scope = EVERYTHING) -> Mapping[str, int]:
        within, bindings = condition(scope, "inactive is null")
        return dict(self._db.rows(_VALUES.format(within=within), {**bindings, "name": name}))

    def having(self, filters: Iterable[PropertyFilter]) -> frozenset[int]:
        documents = frozenset(self._db.values("select id from documents where inactive is null"))
        for wanted in filters:
            having = frozenset(self._db.values(_HAVING, {"name": wanted.name, "key": wanted.key}))
            documents = documents - having if wanted.is_negated else documents & having
        return documents

    def _by_document(self, sql: str, binding: str) -> dict[int, list[Property]]:
        properties: dict[int, list[Property]] = {}
        for document_id, *row in self._db.rows(sql, (binding,)):
            properties.setdefault(document_id, []).append(Property(*row))
        return properties
