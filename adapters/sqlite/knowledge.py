"""Entities, facts about them, and relations between documents."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice

from clawmem.adapters.sqlite.database import Database, Row
from clawmem.adapters.sqlite.scope import documents_in
from clawmem.adapters.sqlite.sqlite_errors import invalid_record
from clawmem.ports.errors import InvalidInput
from clawmem.ports.knowledge import (
    DOCUMENTS_EACH,
    EVERY_KIND,
    MOST_COMPANIONS,
    Direction,
    Entity,
    Relation,
    RelationKind,
    Triple,
    check_day,
    check_relation,
    check_triple,
)
from clawmem.ports.origin import Origin, least_trusted
from clawmem.ports.records import EVERYTHING, Scope

_ENTITY_COLUMNS = "id, name, kind, mention_count"
_MENTION = "insert or ignore into mentions select ?, key from entities where id = ?"
_MENTIONS = f"""
select {_ENTITY_COLUMNS} from mentions join entities on key = entity
 where document_id = ? and document_id in (select id from documents where inactive is null)
 order by id
"""
_SEARCH = f"""
select {_ENTITY_COLUMNS} from entities
 where key in (select rowid from entity_names where entity_names match ?) and mention_count > 0
 order by mention_count desc, id limit ?
"""
_FREQUENT = (
    f"select {_ENTITY_COLUMNS} from entities where mention_count > 0 order by mention_count desc, id limit ?"
)
_COMPANIONS = """
select companion, max(count) as together
  from companions join entities on key = companion
 where entity in (select entity from mentions
                    join documents on documents.id = document_id and inactive is null
                   where document_id in (select value from json_each(:seeds)))
 group by companion order by together desc, entities.id limit :most
"""
_DOCUMENTS = """
select document_id from mentions join documents on documents.id = document_id and inactive is null
 where entity = :entity and document_id not in (select value from json_each(:seeds)) {seen}
 order by document_id desc limit :each
"""
_MENTIONING = """
select document_id from mentions join documents on documents.id = document_id and inactive is null
 where entity = (select key from entities where id = ?) order by document_id desc limit ?
"""
_UNKNOW = """
delete from entities
 where key = ?1
   and not exists (select 1 from mentions where entity = ?1)
   and not exists (select 1 from triples where subject = ?1 or object = ?1)
"""
_KEY = "select key from entities where id = ?"
_SAVE_ENTITY = "insert into entities (id, name, kind) values (?, ?, ?) on conflict (id) do nothing"
# Triples that duplicate one of the target entity, or would relate it to itself, are deleted instead of moved.
_MOVE = (
    "update or ignore triples set subject = :into where subject = :gone",
    "update or ignore triples set object = :into where object = :gone",
    "delete from triples where :gone in (subject, object) or (subject = :into and object = :into)",
    "delete from entities where key = :gone",
)
_WORD = re.compile(r"[^\W_]+")


class SqliteEntities:
    """``EntityStore`` in three tables of the vault; triggers maintain the counts."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def set_mentions(self, document_id: int, entities: Sequence[Entity]) -> None:
        with self._db.atomic():
            if not self._db.value("select 1 from documents where id = ?", (document_id,)):
                raise InvalidInput(
                    "INVALID_INPUT", f"There is no document {document_id}, so it cannot mention entities."
                )
            self._db.write("delete from mentions where document_id = ?", (document_id,))
            for one in entities:
                self._db.write(_SAVE_ENTITY, (one.id, one.name, one.kind))
                self._db.write(_MENTION, (document_id, one.id))

    def forget(self, document_id: int) -> int:
        with self._db.atomic():
            # All mentions go first: the trigger that counts co-occurrences needs the other entities to exist.
            gone = self._db.rows("select entity from mentions where document_id = ?", (document_id,))
            self._db.write("delete from mentions where document_id = ?", (document_id,))
            self._db.write_many(_UNKNOW, gone)
        return len(gone)

    def merge(self, entity_id: str, into: Entity) -> bool:
        with self._db.atomic():
            gone = self._db.value(_KEY, (entity_id,))
            if gone is None or entity_id == into.id:
                return False
            self._db.write(_SAVE_ENTITY, (into.id, into.name, into.kind))
            mentioning = self._db.write(
                "delete from mentions where entity = ? returning document_id", (gone,)
            )
            for (document_id,) in mentioning:
                self._db.write(_MENTION, (document_id, into.id))
            moved = {"gone": gone, "into": self._db.value(_KEY, (into.id,))}
            for sql in _MOVE:
                self._db.write(sql, moved)
            # the triggers may have deleted the target entity when its last reference went
            self._db.write(_SAVE_ENTITY, (into.id, into.name, into.kind))
        return True

    def mentions(self, document_id: int) -> list[Entity]:
        return [Entity(*row) for row in self._db.rows(_MENTIONS, (document_id,))]

    def mentioning(self, entity_id: str, limit: int) -> list[int]:
        return [number for (number,) in self._db.rows(_MENTIONING, (entity_id, max(limit, 0)))]

    def known(self, ids: Iterable[str]) -> dict[str, Entity]:
        sql = f"select {_ENTITY_COLUMNS} from entities where id in (select value from json_each(?))"
        return {row[0]: Entity(*row) for row in self._db.rows(sql, (json.dumps(list(ids)),))}

    def search(self, text: str, limit: int) -> list[Entity]:
        words = _WORD.findall(unicodedata.normalize("NFC", text))
        if not words:
            return []
        match = " ".join(f'"{word}"*' for word in words)
        return [Entity(*row) for row in self._db.rows(_SEARCH, (match, max(limit, 0)))]

    def frequent(self, limit: int) -> list[Entity]:
        return [Entity(*row) for row in self._db.rows(_FREQUENT, (max(limit, 0),))]

    def neighbours(
        self, document_ids: Iterable[int], limit: int, scope: Scope = EVERYTHING
    ) -> dict[int, int]:
        seeds = json.dumps(list(document_ids))
        followed = self._db.rows(_COMPANIONS, {"seeds": seeds, "most": MOST_COMPANIONS})
        best: dict[int, int] = {}
        for entity, count in followed:  # the most frequent companion first
            for document_id in self._documents(entity, seeds, scope):
                best.setdefault(document_id, count)
        found = sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))
        return dict(found[: max(limit, 0)])

    def _documents(self, entity: int, seeds: str, scope: Scope) -> list[int]:
        condition, bindings = documents_in(scope)
        seen = f"and document_id in ({condition})" if condition else ""
        asked = {**bindings, "entity": entity, "seeds": seeds, "each": DOCUMENTS_EACH}
        return [row[0] for row in self._db.rows(_DOCUMENTS.format(seen=seen), asked)]


_ADD = """
insert or ignore into triples
       (subject, predicate, object, literal, document_id, valid_from, valid_to, confidence, said, ended_by)
select key, :predicate, (select key from entities where id = :object), :literal, :document_id, :valid_from,
       nullif(:valid_to, ''), :confidence, :said, :ended_by
  from entities where id = :subject
"""
_OWN = ("document_id", "valid_from", "valid_to", "confidence", "said", "ended_by")
_END = """
update triples set valid_to = :day, ended_by = :by
 where subject = (select key from entities where id = :subject) and predicate = :predicate
   and (valid_to is null or valid_to > :day and ended_by is not null) and valid_from <= :day
   and (object = (select key from entities where id = :object) or literal = :literal)
"""
# If a document has repeated the statement since, the repetition is valid from then on; the earlier period
# stays ended.
_REOPEN = "update or ignore triples set valid_to = null, ended_by = null where ended_by = ? returning id"
# SQLite does not reorder a cross join, so an index returns the rows in the wanted order.
_SAID = """
select one.id, one.name, one.kind, one.mention_count, predicate,
       other.id, other.name, other.kind, other.mention_count, literal,
       document_id, valid_from, coalesce(valid_to, ''), triples.confidence, said, ended_by
  from triples
  cross join documents on documents.id = document_id and inactive is null
  cross join entities as one on one.key = subject
  left join entities as other on other.key = object
"""
_OF_DOCUMENT = f"{_SAID} where document_id = ? order by triples.id"
_THESE = f"{_SAID} where triples.id in (select value from json_each(?)) order by triples.id"
_FOUND = f"""
{_SAID}
 where triples.{{end}} = (select key from entities where id = :entity) and {{when}}
"""
_CURRENT = f"{_FOUND} order by triples.confidence desc, valid_from desc, triples.id"
_RECORDED = f"""
{_FOUND} order by valid_to is not null, valid_to desc, triples.confidence desc, valid_from desc, triples.id
"""
_ON_A_DAY = "valid_from <= :day and (valid_to is null or valid_to >= :day)"
_TRIPLE_ENDS = {
    Direction.OUTGOING: ("subject",),
    Direction.INCOMING: ("object",),
    Direction.BOTH: ("subject", "object"),
}
_TRIPLE_COUNTS = """
select predicate, count(*) from (
    select distinct subject, predicate, object, literal from triples
      join documents on documents.id = document_id and inactive is null
     where valid_to is null)
 group by predicate order by predicate
"""
_TOTAL = """
select count(*) from (
    select distinct subject, predicate, object, literal from triples
      join documents on documents.id = document_id and inactive is null)
"""


class SqliteTriples:
    """``TripleStore`` in one table with an index for subject and object."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def add(self, triples: Iterable[Triple]) -> int:
        given = list(triples)
        with self._db.atomic():
            for triple in given:
                self._refuse(triple)
            return sum([self._add(triple) for triple in given])

    def end(self, triple: Triple, day: str, by: int | None = None) -> int:
        check_day(day)
        self._db.write(_END, {**_named(triple), "day": day, "by": by})
        return self._db.changes()

    def reopen(self, document_id: int) -> list[Triple]:
        opened = [number for (number,) in self._db.write(_REOPEN, (document_id,))]
        return [_triple(row) for row in self._db.rows(_THESE, (json.dumps(opened),))] if opened else []

    def of_document(self, document_id: int) -> list[Triple]:
        return [_triple(row) for row in self._db.rows(_OF_DOCUMENT, (document_id,))]

    def current(self, entity_id: str, limit: int, direction: Direction = Direction.BOTH) -> list[Triple]:
        return self._first(_CURRENT, "valid_to is null", {"entity": entity_id}, limit, direction)

    def recorded(
        self,
        entity_id: str,
        limit: int,
        direction: Direction = Direction.BOTH,
        *,
        on: str | None = None,
        predicate: str | None = None,
    ) -> list[Triple]:
        when, asked = "true", {"entity": entity_id}
        if on is not None:
            check_day(on)
            when, asked = _ON_A_DAY, {**asked, "day": on}
        if predicate is not None:
            when, asked = f"{when} and predicate = :predicate", {**asked, "predicate": predicate}
        return self._first(_RECORDED, when, asked, limit, direction)

    def counts(self) -> Mapping[str, int]:
        return dict(self._db.rows(_TRIPLE_COUNTS))

    def total(self) -> int:
        return int(self._db.value(_TOTAL))

    def forget(self, document_id: int) -> int:
        with self._db.atomic():
            self.reopen(document_id)
            self._db.write("delete from triples where document_id = ?", (document_id,))
            return self._db.changes()

    def _refuse(self, triple: Triple) -> None:
        check_triple(triple)
        if self._db.value("select 1 from documents where id = ?", (triple.document_id,)) is None:
            raise InvalidInput(
                "INVALID_INPUT", f"There is no document {triple.document_id}, so it cannot state facts."
            )

    def _add(self, triple: Triple) -> int:
        for one in (triple.subject, triple.object):
            if isinstance(one, Entity):
                self._db.write(_SAVE_ENTITY, (one.id, one.name, one.kind))
        rest = {name: getattr(triple, name) for name in _OWN}
        self._db.write(_ADD, {**_named(triple), **rest})
        return self._db.changes()

    def _first(
        self, sql: str, when: str, bindings: Mapping[str, str], limit: int, direction: Direction
    ) -> list[Triple]:
        """Return the first *limit* distinct triples of both ends, reading no more rows than needed."""
        streams = [
            self._db.stream(sql.format(end=end, when=when), bindings) for end in _TRIPLE_ENDS[direction]
        ]
        return list(islice(_distinct(chain.from_iterable(streams)), max(limit, 0)))


def _distinct(rows: Iterable[Row]) -> Iterator[Triple]:
    seen = set()
    for row in rows:
        triple = _triple(row)
        key = (triple.subject.id, triple.predicate, triple.object_id, triple.object_name, triple.valid_to)
        if key not in seen:
            seen.add(key)
            yield triple


def _triple(row: Row) -> Triple:
    subject, predicate, object_, literal, rest = row[:4], row[4], row[5:9], row[9], row[10:]
    return Triple(Entity(*subject), predicate, literal if literal is not None else Entity(*object_), *rest)


def _named(triple: Triple) -> dict[str, object]:
    return {
        "subject": triple.subject.id,
        "predicate": triple.predicate,
        "object": triple.object_id or None,
        "literal": None if triple.object_id else triple.object_name,
    }


_RELATION_COLUMNS = "source, target, kind, weight, origin, created_at, metadata"
_ORIGINS = {origin.value: origin for origin in Origin}
_DIFFERS = """
    (weight, origin, metadata) is not (excluded.weight, excluded.origin, excluded.metadata)
"""
_PUT = f"""
insert into relations ({_RELATION_COLUMNS}) values (?, ?, ?, ?, ?, ?, ?)
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
_RELATION_ENDS = {"outbound": ("source", "target"), "inbound": ("target", "source")}
_RELATION_COUNTS = """
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
        return {RelationKind(kind): count for kind, count in self._db.rows(_RELATION_COUNTS)}

    def _strongest(
        self,
        direction: str,
        document_ids: Iterable[int],
        kinds: Collection[RelationKind],
        limit: int,
        scope: Scope,
    ) -> list[Relation]:
        near, far = _RELATION_ENDS[direction]
        seen, bindings = documents_in(scope)
        sql = _STRONGEST.format(
            columns=", ".join(f"edge.{name}" for name in _RELATION_COLUMNS.split(", ")),
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
