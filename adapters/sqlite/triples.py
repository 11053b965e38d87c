from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice

from clawmem.adapters.sqlite.database import Database, Row
from clawmem.ports.entities import Entity
from clawmem.ports.errors import InvalidInput
from clawmem.ports.triples import Direction, Triple, check_day, check_triple

_KNOW = "insert into entities (id, name, kind) values (?, ?, ?) on conflict (id) do nothing"
_ADD = """
insert or ignore into triples
       (subject, predicate, object, literal, document_id, valid_from, valid_to, confidence, said)
select key, :predicate, (select key from entities where id = :object), :literal, :document_id, :valid_from,
       nullif(:valid_to, ''), :confidence, :said
  from entities where id = :subject
"""
_OWN = ("document_id", "valid_from", "valid_to", "confidence", "said")
_END = """
update triples set valid_to = :day
 where subject = (select key from entities where id = :subject) and predicate = :predicate
   and valid_to is null and valid_from <= :day
   and (object = (select key from entities where id = :object) or literal = :literal)
"""
# A cross join is one whose order SQLite leaves alone: an index gives the rows in the order they are wanted in.
_FOUND = """
select one.id, one.name, one.kind, one.mention_count, predicate,
       other.id, other.name, other.kind, other.mention_count, literal,
       document_id, valid_from, coalesce(valid_to, ''), triples.confidence, said
  from triples
  cross join documents on documents.id = document_id and inactive is null
  cross join entities as one on one.key = subject
  left join entities as other on other.key = object
 where triples.{end} = (select key from entities where id = :entity) and {when}
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


class SqliteTriples:
    """``TripleStore`` in one table with an index for either end."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def add(self, triples: Iterable[Triple]) -> int:
        given = list(triples)
        with self._db.atomic():
            for triple in given:
                self._refuse(triple)
            return sum([self._add(triple) for triple in given])

    def end(self, triple: Triple, day: str) -> int:
        check_day(day)
        self._db.write(_END, {**_named(triple), "day": day})
        return self._db.changes()

    def current(self, entity_id: str, limit: int, direction: Direction = Direction.BOTH) -> list[Triple]:
        return self._first(_CURRENT, "valid_to is null", {"entity": entity_id}, limit, direction)

    def recorded(
        self,
        entity_id: str,
        limit: int,
        direction: Direction = Direction.BOTH,
        *,
        on: str | None = None,
    ) -> list[Triple]:
        if on is None:
            return self._first(_RECORDED, "true", {"entity": entity_id}, limit, direction)
        check_day(on)
        return self._first(_RECORDED, _ON_A_DAY, {"entity": entity_id, "day": on}, limit, direction)

    def counts(self) -> Mapping[str, int]:
        return dict(self._db.rows(_COUNTS))

    def forget(self, document_id: int) -> int:
        self._db.write("delete from triples where document_id = ?", (document_id,))
        return self._db.changes()

    def _refuse(self, triple: Triple) -> None:
        check_triple(triple)
        if self._db.value("select 1 from documents where id = ?", (triple.document_id,)) is None:
            raise InvalidInput("INVALID_INPUT", f"There is no document {triple.document_id} to say anything.")

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
        """The first *limit* different ones of both ends, and not a row more than that takes."""
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
