"""Entities, facts about them, relations between documents, and generated notes about documents."""

import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import astuple, fields
from functools import partialmethod
from typing import Any

from clawmem.adapters.sqlite.database import Bindings, Row
from clawmem.adapters.sqlite.sqlite_errors import invalid_record
from clawmem.adapters.sqlite.store import Store, documents_in
from clawmem.ports.knowledge import (
    ATTEMPTS,
    DOCUMENTS_EACH,
    EVERY_KIND,
    MOST_COMPANIONS,
    RULES,
    Direction,
    Entity,
    Note,
    NoteCounts,
    Relation,
    RelationKind,
    Triple,
    check_day,
)
from clawmem.ports.records import EVERYTHING, Origin, Scope, least_trusted

_ENTITY_COLUMNS = "id, name, kind, mention_count"
_SELECT = f"select {_ENTITY_COLUMNS} from entities"
_MENTION = "insert or ignore into mentions select ?, key from entities where id = ?"
_MENTIONS = f"""
select {_ENTITY_COLUMNS} from mentions join entities on key = entity
 where document_id = ? and document_id in (select id from documents where inactive is null)
 order by id
"""
_FREQUENT = f"{_SELECT} where mention_count > 0 {{named}} order by mention_count desc, id limit ?"
_NAMED = "and key in (select rowid from entity_names where entity_names match ?)"
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
 where entity = :entity and document_id not in (select value from json_each(:seeds)) {within}
 order by document_id desc limit :each
"""
_MENTIONING = """
select document_id from mentions join documents on documents.id = document_id and inactive is null
 where entity = (select key from entities where id = ?) order by document_id desc limit ?
"""
DROP_UNUSED = """
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


class SqliteEntities(Store):
    """``EntityStore`` in three tables of the vault; triggers maintain the counts."""

    def set_mentions(self, document_id: int, entities: Sequence[Entity]) -> None:
        with self._db.atomic():
            self._db.write("delete from mentions where document_id = ?", (document_id,))
            for entity in entities:
                self._db.write(_SAVE_ENTITY, astuple(entity)[:3])
                self._db.write(_MENTION, (document_id, entity.id))

    def merge(self, entity_id: str, into: Entity) -> bool:
        with self._db.atomic():
            gone = self._db.value(_KEY, (entity_id,))
            if gone is None or entity_id == into.id:
                return False
            self._db.write(_SAVE_ENTITY, astuple(into)[:3])
            notes = self._db.write("delete from mentions where entity = ? returning document_id", (gone,))
            self._db.write_many(_MENTION, [(document_id, into.id) for (document_id,) in notes])
            moved = {"gone": gone, "into": self._db.value(_KEY, (into.id,))}
            for sql in _MOVE:
                self._db.write(sql, moved)
            # the triggers may have deleted the target entity when its last reference went
            self._db.write(_SAVE_ENTITY, astuple(into)[:3])
        return True

    def mentions(self, document_id: int) -> list[Entity]:
        return self._entities(_MENTIONS, (document_id,))

    def mentioning(self, entity_id: str, limit: int) -> list[int]:
        return self._db.values(_MENTIONING, (entity_id, max(limit, 0)))

    def known(self, ids: Iterable[str]) -> dict[str, Entity]:
        sql = f"{_SELECT} where id in (select value from json_each(?))"
        return {entity.id: entity for entity in self._entities(sql, (json.dumps(list(ids)),))}

    def search(self, text: str | None, limit: int) -> list[Entity]:
        if text is None:
            return self._entities(_FREQUENT.format(named=""), (max(limit, 0),))
        words = re.findall(r"[^\W_]+", unicodedata.normalize("NFC", text))
        match = " ".join(f'"{word}"*' for word in words)
        return self._entities(_FREQUENT.format(named=_NAMED), (match, max(limit, 0))) if words else []

    def neighbours(
        self, document_ids: Iterable[int], limit: int, scope: Scope = EVERYTHING
    ) -> dict[int, int]:
        seeds = json.dumps(list(document_ids))
        condition, bindings = documents_in(scope)
        sql = _DOCUMENTS.format(within=f"and document_id in ({condition})" if condition else "")
        companions = self._db.rows(_COMPANIONS, {"seeds": seeds, "most": MOST_COMPANIONS})
        best: dict[int, int] = {}
        for entity, count in companions:  # the most frequent companion first
            values = {**bindings, "entity": entity, "seeds": seeds, "each": DOCUMENTS_EACH}
            for document_id in self._db.values(sql, values):
                best.setdefault(document_id, count)
        ranked = sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))
        return dict(ranked[: max(limit, 0)])

    def _entities(self, sql: str, bindings: Bindings) -> list[Entity]:
        return [Entity(*row) for row in self._db.rows(sql, bindings)]


_ADD = """
insert into triples
       (subject, predicate, object, literal, document_id, valid_from, valid_to, confidence, said, ended_by)
select key, :predicate, (select key from entities where id = :object), :literal, :document_id, :valid_from,
       nullif(:valid_to, ''), :confidence, :said, :ended_by
  from entities where id = :subject
on conflict do nothing
"""

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
     where valid_to is null or :ended)
 group by predicate order by predicate
"""


class SqliteTriples(Store):
    """``TripleStore`` in one table with an index for subject and object."""

    def add(self, triples: Iterable[Triple]) -> int:
        count = 0
        with self._db.atomic():
            for triple in triples:
                for end in (triple.subject, triple.object):
                    if isinstance(end, Entity):
                        self._db.write(_SAVE_ENTITY, astuple(end)[:3])
                count += self._db.change(_ADD, _bindings(triple))
        return count

    def end(self, triple: Triple, day: str, by: int | None = None) -> int:
        check_day(day)
        return self._db.change(_END, {**_bindings(triple), "day": day, "by": by})

    def reopen(self, document_id: int) -> list[Triple]:
        reopened = [number for (number,) in self._db.write(_REOPEN, (document_id,))]
        return [_triple(row) for row in self._db.rows(_THESE, (json.dumps(reopened),))]

    def of_document(self, document_id: int) -> list[Triple]:
        return [_triple(row) for row in self._db.rows(_OF_DOCUMENT, (document_id,))]

    def recorded(
        self,
        entity_id: str,
        limit: int,
        direction: Direction = Direction.BOTH,
        *,
        ended: bool = True,
        on: str | None = None,
        predicate: str | None = None,
    ) -> list[Triple]:
        when = "true" if ended else "valid_to is null"
        if on is not None:
            check_day(on)
            when += f" and {_ON_A_DAY}"
        if predicate is not None:
            when += " and predicate = :predicate"
        sql = (_RECORDED if ended else _CURRENT).replace("{when}", when)
        distinct: dict[tuple[str, ...], Triple] = {}
        for end in _TRIPLE_ENDS[direction]:
            bindings = {"entity": entity_id, "day": on, "predicate": predicate}
            for row in self._db.stream(sql.format(end=end), bindings):
                if len(distinct) >= limit:
                    break
                triple = _triple(row)
                key = (
                    triple.subject.id,
                    triple.object_id,
                    triple.object_name,
                    triple.predicate,
                    triple.valid_to,
                )
                distinct.setdefault(key, triple)
        return [*distinct.values()]

    def counts(self, *, ended: bool = False) -> Mapping[str, int]:
        return dict(self._db.rows(_TRIPLE_COUNTS, {"ended": ended}))

    def forget(self, document_id: int) -> int:
        with self._db.atomic():
            self.reopen(document_id)
            return self._db.change("delete from triples where document_id = ?", (document_id,))


def _triple(row: Row) -> Triple:
    predicate, literal, rest = row[4], row[9], row[10:]
    return Triple(Entity(*row[:4]), predicate, Entity(*row[5:9]) if literal is None else literal, *rest)


def _bindings(triple: Triple) -> dict[str, Any]:
    return {
        **{field.name: getattr(triple, field.name) for field in fields(Triple)},
        "subject": triple.subject.id,
        "object": triple.object_id or None,
        "literal": None if triple.object_id else triple.object_name,
    }


_RELATION_COLUMNS = "source, target, kind, weight, origin, created_at, metadata"
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
_REMOVE_OTHERS = """
delete from relations
 where source in (select value from json_each(:sources)) and kind = :kind and origin = :origin
   and (source, target) not in (
       select value ->> 0, value ->> 1 from json_each(:pairs)
   )
"""
# For each node and kind only the first rows of an index are read, so a node with a hundred thousand relations
# is as fast as one with ten. (SQLite does not reorder a cross join.)
_STRONGEST = f"""
select {", ".join(f"edge.{name}" for name in _RELATION_COLUMNS.split(", "))}, near.origin, other.origin from json_each(:nodes) as node
  cross join documents as near on near.id = node.value and near.inactive is null
  cross join json_each(:kinds) as sort
  cross join relations as edge on edge.{{near}} = node.value and edge.kind = sort.value and edge.{{far}} in (
       select {{far}} from relations indexed by relations_{{direction}}
         cross join documents on documents.id = {{far}} and documents.inactive is null
        where {{near}} = node.value and kind = sort.value {{within}}
        order by weight desc, {{far}} limit :limit)
  cross join documents as other on other.id = edge.{{far}}
 order by edge.{{near}}, edge.kind, weight desc, edge.{{far}}
"""
_RELATION_ENDS = {"outbound": ("source", "target"), "inbound": ("target", "source")}
_RELATION_COUNTS = """
with inactive as (select id from documents where inactive is not null)
select kind, count(*) from relations where source not in inactive and target not in inactive group by kind
"""


class SqliteRelations(Store):
    """``RelationStore`` in one table with an index for each direction."""

    def put(self, relations: Iterable[Relation]) -> int:
        with self._db.atomic():
            return self._insert(_PUT, relations)

    def renew(
        self, kind: RelationKind, origin: str, sources: Iterable[int], relations: Iterable[Relation]
    ) -> int:
        renewed = list(relations)
        pairs = json.dumps([(relation.source, relation.target) for relation in renewed])
        bindings = {"sources": json.dumps(list(sources)), "kind": kind, "origin": origin, "pairs": pairs}
        with self._db.atomic():
            removed = self._db.change(_REMOVE_OTHERS, bindings)
            return removed + self._insert(f"{_PUT} and origin = excluded.origin", renewed)

    def counts(self) -> dict[RelationKind, int]:
        return {RelationKind(kind): count for kind, count in self._db.rows(_RELATION_COUNTS)}

    def _strongest(
        self,
        direction: str,
        document_ids: Iterable[int],
        kinds: Collection[RelationKind] = EVERY_KIND,
        *,
        limit: int,
        scope: Scope = EVERYTHING,
    ) -> list[Relation]:
        near, far = _RELATION_ENDS[direction]
        documents, bindings = documents_in(scope)
        within = f"and exists ({documents} and id = relations.{far})" if documents else ""
        sql = _STRONGEST.format(near=near, far=far, direction=direction, within=within)
        nodes, names = json.dumps(sorted(set(document_ids))), json.dumps(sorted(kinds))
        values = {**bindings, "nodes": nodes, "kinds": names, "limit": max(limit, 0)}
        relations = []
        for source, target, kind, *rest, metadata, origin, other in self._db.rows(sql, values):
            try:
                trust = least_trusted([Origin(origin), Origin(other)])
                relation_fields = (source, target, RelationKind(kind), *rest, json.loads(metadata), trust)
            except ValueError as error:
                raise invalid_record() from error
            relations.append(Relation._make(relation_fields))
        return relations

    outbound = partialmethod(_strongest, "outbound")
    inbound = partialmethod(_strongest, "inbound")

    def _insert(self, sql: str, relations: Iterable[Relation]) -> int:
        count = 0
        for relation in relations:
            metadata = json.dumps(dict(relation.metadata), ensure_ascii=False, sort_keys=True)
            count += self._db.change(sql, (*relation[:6], metadata))
        return count


_NOTES = """
select notes.document_id, keywords, notes.tags, context, notes.origin, written_at, cause, version, reason
  from notes join documents on documents.id = notes.document_id and inactive is null
 where notes.document_id = ? order by version
"""
_LAST_NOTE = "select version, keywords, tags, context, origin from notes where document_id = ? order by version desc limit 1"
_PUT_NOTE = """
insert into notes (document_id, version, keywords, tags, context, origin, written_at, cause, reason)
values (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_UNENRICHED = f"""
select documents.id from documents left join enriched on enriched.document_id = documents.id
 where documents.inactive is null
   and (enriched.source_hash is null or enriched.source_hash <> documents.source_hash
        or (:by_model and not by_model and failures < {ATTEMPTS}))
 order by documents.id
"""
_SETTLE = """
insert into enriched (document_id, source_hash, by_model) values (?1, ?2, ?3)
on conflict (document_id) do update
   set by_model = max(excluded.by_model, case source_hash when excluded.source_hash then by_model else 0 end),
       failures = case when excluded.by_model or source_hash <> excluded.source_hash then 0 else failures end,
       source_hash = excluded.source_hash
"""
_FAIL = """
insert into enriched (document_id, source_hash, by_model, failures) values (?, ?, 0, 1)
on conflict (document_id) do update
   set failures = case source_hash when excluded.source_hash then failures + 1 else 1 end,
       by_model = case source_hash when excluded.source_hash then by_model else 0 end,
       source_hash = excluded.source_hash
returning failures
"""
_NOTE_COUNTS = f"""
select count(latest.origin), coalesce(sum(latest.origin <> '{RULES}'), 0),
       coalesce(sum(enriched.source_hash is null or enriched.source_hash <> documents.source_hash), 0),
       coalesce(sum(enriched.source_hash = documents.source_hash and failures >= {ATTEMPTS}), 0)
  from documents left join enriched on enriched.document_id = documents.id
  left join (select document_id, origin, max(version) from notes group by document_id) as latest
         on latest.document_id = documents.id
 where inactive is null
"""


class SqliteNotes(Store):
    """``NoteStore`` in two tables of the vault."""

    def get(self, document_id: int) -> Note | None:
        return next(reversed(self.history(document_id)), None)

    def history(self, document_id: int) -> list[Note]:
        return [
            Note(number, tuple(json.loads(keywords)), tuple(json.loads(tags)), *rest)
            for number, keywords, tags, *rest in self._db.rows(_NOTES, (document_id,))
        ]

    def put(self, note: Note) -> int:
        written = (*(json.dumps(part) for part in (note.keywords, note.tags)), note.context, note.origin)
        with self._db.atomic():
            last = self._db.row(_LAST_NOTE, (note.document_id,))
            if last is not None and last[1:] == written:
                return int(last[0])
            version = last[0] + 1 if last else 1
            why = (note.written_at, note.cause, note.reason)
            self._db.write(_PUT_NOTE, (note.document_id, version, *written, *why))
        return int(version)

    def waiting(self, *, by_model: bool) -> list[int]:
        return self._db.values(_UNENRICHED, {"by_model": by_model})

    def settle(self, document_id: int, source_hash: str, *, by_model: bool) -> None:
        self._db.write(_SETTLE, (document_id, source_hash, by_model))

    def fail(self, document_id: int, source_hash: str) -> int:
        [(failures,)] = self._db.write(_FAIL, (document_id, source_hash))
        return int(failures)

    def counts(self) -> NoteCounts:
        return NoteCounts(*self._db.rows(_NOTE_COUNTS)[0])
