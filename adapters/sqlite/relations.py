from __future__ import annotations

import json
from collections.abc import Collection, Iterable

from clawmem.adapters.sqlite.connections import Row
from clawmem.adapters.sqlite.database import Database
from clawmem.adapters.sqlite.scope import documents_in
from clawmem.adapters.sqlite.vocabulary import invalid_record
from clawmem.ports.errors import InvalidInput
from clawmem.ports.origin import Origin, least_trusted
from clawmem.ports.records import EVERYTHING, Scope
from clawmem.ports.relations import EVERY_KIND, Relation, RelationKind, check_relation

_COLUMNS = "source, target, kind, weight, origin, created_at, metadata"
_ORIGINS = {origin.value: origin for origin in Origin}
_DIFFERS = """
    (weight, origin, metadata) is not (excluded.weight, excluded.origin, excluded.metadata)
"""
_PUT = f"""
insert into relations ({_COLUMNS}) values (?, ?, ?, ?, ?, ?, ?)
on conflict (source, kind, target) do update
   set weight = excluded.weight, origin = excluded.origin, created_at = excluded.created_at,
       metadata = excluded.metadata
 where {_DIFFERS}
"""
_PUT_BESIDE_OTHERS = f"{_PUT} and origin = excluded.origin"
_REMOVE_OTHERS = """
delete from relations
 where source in (select value from json_each(:sources)) and kind = :kind and origin = :origin
   and (source, target) not in (
       select value ->> 0, value ->> 1 from json_each(:kept)
   )
"""
# For each node and kind only the first rows of an index are read, so a node with a hundred thousand relations
# is as fast as one with ten. (SQLite does not reorder a cross join.)
_STRONGEST = """
select {columns}, near.origin, other.origin from json_each(:nodes) as node
  cross join documents as near on near.id = node.value and near.inactive is null
  cross join json_each(:kinds) as sort
  cross join relations as edge on edge.{near} = node.value and edge.kind = sort.value and edge.{far} in (
       select {far} from relations indexed by relations_{direction}
         cross join documents on documents.id = {far} and documents.inactive is null
        where {near} = node.value and kind = sort.value {in_scope}
        order by weight desc, {far} limit :limit)
  cross join documents as other on other.id = edge.{far}
 order by edge.{near}, edge.kind, weight desc, edge.{far}
"""
_ENDS = {"outbound": ("source", "target"), "inbound": ("target", "source")}
_COUNTS = """
with inactive as (select id from documents where inactive is not null)
select kind, count(*) from relations where source not in inactive and target not in inactive group by kind
"""


class SqliteRelations:
    """``RelationStore`` in one table with an index for each direction."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def put(self, relations: Iterable[Relation]) -> int:
        given = list(relations)
        with self._db.atomic():
            self._refuse(given)
            return self._insert(_PUT, given)

    def renew(
        self, kind: RelationKind, origin: str, sources: Iterable[int], relations: Iterable[Relation]
    ) -> int:
        given = list(relations)
        kept = json.dumps([(relation.source, relation.target) for relation in given])
        bindings = {"sources": json.dumps(list(sources)), "kind": kind, "origin": origin, "kept": kept}
        with self._db.atomic():
            self._refuse(given)
            self._db.write(_REMOVE_OTHERS, bindings)
            removed = self._db.changes()
            return removed + self._insert(_PUT_BESIDE_OTHERS, given)

    def outbound(
        self,
        document_ids: Iterable[int],
        kinds: Collection[RelationKind] = EVERY_KIND,
        *,
        limit: int,
        scope: Scope = EVERYTHING,
    ) -> list[Relation]:
        return self._strongest("outbound", document_ids, kinds, limit, scope)

    def inbound(
        self,
        document_ids: Iterable[int],
        kinds: Collection[RelationKind] = EVERY_KIND,
        *,
        limit: int,
        scope: Scope = EVERYTHING,
    ) -> list[Relation]:
        return self._strongest("inbound", document_ids, kinds, limit, scope)

    def forget(self, document_id: int) -> int:
        self._db.write("delete from relations where source = ? or target = ?", (document_id, document_id))
        return self._db.changes()

    def counts(self) -> dict[RelationKind, int]:
        return {RelationKind(kind): count for kind, count in self._db.rows(_COUNTS)}

    def _strongest(
        self,
        direction: str,
        document_ids: Iterable[int],
        kinds: Collection[RelationKind],
        limit: int,
        scope: Scope,
    ) -> list[Relation]:
        near, far = _ENDS[direction]
        seen, bindings = documents_in(scope)
        sql = _STRONGEST.format(
            columns=", ".join(f"edge.{name}" for name in _COLUMNS.split(", ")),
            near=near,
            far=far,
            direction=direction,
            in_scope=f"and exists ({seen} and id = relations.{far})" if seen else "",
        )
        asked = {"nodes": json.dumps(sorted(set(document_ids))), "kinds": json.dumps(sorted(kinds))}
        rows = self._db.rows(sql, {**bindings, **asked, "limit": max(limit, 0)})
        return [_relation(row) for row in rows]

    def _insert(self, sql: str, relations: list[Relation]) -> int:
        changed = 0
        for relation in relations:
            self._db.write(sql, _row(relation))
            changed += self._db.changes()
        return changed

    def _refuse(self, relations: list[Relation]) -> None:
        for relation in relations:
            check_relation(relation)
        ends = sorted({end for relation in relations for end in (relation.source, relation.target)})
        sql = "select value from json_each(?) where value not in (select id from documents) limit 1"
        unknown = self._db.value(sql, (json.dumps(ends),))
        if unknown is not None:
            raise InvalidInput("INVALID_INPUT", f"There is no document {unknown}. No relation was stored.")


def _row(relation: Relation) -> Row:
    r = relation
    metadata = json.dumps(dict(r.metadata), ensure_ascii=False, sort_keys=True)
    return (r.source, r.target, r.kind, r.weight, r.origin, r.created_at, metadata)


def _relation(row: Row) -> Relation:
    source, target, kind, weight, origin, created_at, metadata, *ends = row
    try:
        said = (
            {} if metadata == "{}" else json.loads(metadata)
        )  # most relations have no metadata, and there are many relations
        trust = least_trusted(map(_ORIGINS.__getitem__, ends))
        return Relation(source, target, RelationKind(kind), weight, origin, created_at, said, trust)
    except (KeyError, ValueError) as error:
        raise invalid_record() from error
