from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from clawmem.adapters.sqlite.database import Database
from clawmem.adapters.sqlite.scope import conditions
from clawmem.ports.errors import InvalidInput
from clawmem.ports.properties import Property, PropertyFilter
from clawmem.ports.records import EVERYTHING, Scope

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
  join documents on id = document_id and inactive is null
 where name = :name collate nocase{within} group by coalesce(key, value) order by number desc, coalesce(key, value)
"""
_SERVED = "select id from documents where inactive is null"
_HAVING = """
select document_id from properties
 where name = :name collate nocase and case when :key is null then value <> '' else coalesce(key, value) = :key end
"""


class SqliteProperties:
    """``PropertyStore`` in one table; the form for comparison is stored where it differs from the value."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def put(self, document_id: int, properties: Iterable[Property]) -> None:
        with self._db.atomic():
            if self._db.value("select 1 from documents where id = ?", (document_id,)) is None:
                raise InvalidInput(
                    "INVALID_INPUT", f"There is no document {document_id}, so it has no properties."
                )
            self._db.write("delete from properties where document_id = ?", (document_id,))
            self._db.write_many(
                "insert into properties values (?, ?, ?, ?, ?)",
                [
                    (document_id, seq, one.name, one.value, one.key if one.key != one.value else None)
                    for seq, one in enumerate(properties)
                ],
            )

    def of(self, document_id: int) -> list[Property]:
        return self.many([document_id]).get(document_id, [])

    def many(self, document_ids: Iterable[int]) -> dict[int, list[Property]]:
        return self._by_document(_MANY, json.dumps([*document_ids]))

    def named(self, name: str) -> Mapping[int, Sequence[Property]]:
        return self._by_document(_NAMED, name)

    def names(self) -> Mapping[str, int]:
        return dict(self._db.rows(_NAMES))

    def values(self, name: str, scope: Scope = EVERYTHING) -> Mapping[str, int]:
        limits, bindings = conditions(scope)
        within = "".join(f" and {limit}" for limit in limits)
        return dict(self._db.rows(_VALUES.format(within=within), {**bindings, "name": name}))

    def having(self, filters: Iterable[PropertyFilter]) -> frozenset[int]:
        found = self._ids(_SERVED, {})
        for one in filters:
            having = self._ids(_HAVING, {"name": one.name, "key": one.key})
            found = found - having if one.is_negated else found & having
        return found

    def _by_document(self, sql: str, binding: str) -> dict[int, list[Property]]:
        found: dict[int, list[Property]] = {}
        for document_id, *row in self._db.rows(sql, (binding,)):
            found.setdefault(document_id, []).append(Property(*row))
        return found

    def _ids(self, sql: str, bindings: Mapping[str, str | None]) -> frozenset[int]:
        return frozenset(number for (number,) in self._db.rows(sql, bindings))
