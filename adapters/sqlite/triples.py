from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice

from clawmem.adapters.sqlite.connections import Row
from clawmem.adapters.sqlite.database import Database
from clawmem.ports.entities import Entity
from clawmem.ports.errors import InvalidInput
from clawmem.ports.triples import Direction, Triple, check_day, check_triple

_KNOW = "insert into entities (id, name, kind) values (?, ?, ?) on conflict (id) do nothing"
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
_ENDS = {
    Direction.OUTGOING: ("subject",),
    Direction.INCOMING: ("object",),
    Direction.BOTH: ("subject", "object"),
}
_COUNTS = """
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
        return dict(self._db.rows(_COUNTS))

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
                self._db.write(_KNOW, (one.id, one.name, one.kind))
        rest = {name: getattr(triple, name) for name in _OWN}
        self._db.write(_ADD, {**_named(triple), **rest})
        return self._db.changes()

    def _first(
        self, sql: str, when: str, bindings: Mapping[str, str], limit: int, direction: Direction
    ) -> list[Triple]:
        """Return the first *limit* distinct triples of both ends, reading no more rows than needed."""
        streams = [self._db.stream(sql.format(end=end, when=when), bindings) for end in _ENDS[direction]]
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
