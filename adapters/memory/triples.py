from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from clawmem.adapters.memory.entities import MemoryEntities
from clawmem.adapters.memory.tables import Tables
from clawmem.ports.entities import Entity
from clawmem.ports.errors import InvalidInput
from clawmem.ports.triples import Direction, Triple, check_day, check_triple

Holds = Callable[[Triple], bool]


class MemoryTriples:
    """Reference ``TripleStore`` over a list that is scanned on each request."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def add(self, triples: Iterable[Triple]) -> int:
        given = list(triples)
        for triple in given:
            check_triple(triple)
            if triple.document_id not in self._tables.documents:
                raise InvalidInput(
                    "INVALID_INPUT", f"There is no document {triple.document_id}, so it cannot state facts."
                )
        return sum([self._add(triple) for triple in given])

    def end(self, triple: Triple, day: str, by: int | None = None) -> int:
        check_day(day)
        ends = [
            _goes_on(one, day) and _fact(one) == _fact(triple) and one.valid_from <= day
            for one in self._tables.triples
        ]
        self._tables.triples = [
            replace(one, valid_to=day, ended_by=by) if is_over else one
            for one, is_over in zip(self._tables.triples, ends, strict=True)
        ]
        return sum(ends)

    def reopen(self, document_id: int) -> list[Triple]:
        held = {(one.document_id, _fact(one)) for one in self._tables.triples if one.is_current}
        opens = [
            one.ended_by == document_id and (one.document_id, _fact(one)) not in held
            for one in self._tables.triples
        ]
        self._tables.triples = [
            replace(one, valid_to="", ended_by=None) if is_open else one
            for one, is_open in zip(self._tables.triples, opens, strict=True)
        ]
        opened = [one for one, is_open in zip(self._tables.triples, opens, strict=True) if is_open]
        return [self._as_known(one) for one in opened if one in self._served()]

    def of_document(self, document_id: int) -> list[Triple]:
        return [self._as_known(one) for one in self._served() if one.document_id == document_id]

    def current(self, entity_id: str, limit: int, direction: Direction = Direction.BOTH) -> list[Triple]:
        return self._first(lambda one: one.is_current, entity_id, limit, direction)

    def recorded(
        self,
        entity_id: str,
        limit: int,
        direction: Direction = Direction.BOTH,
        *,
        on: str | None = None,
        predicate: str | None = None,
    ) -> list[Triple]:
        if on is not None:
            check_day(on)

        def is_asked_for(one: Triple) -> bool:
            held_then = on is None or (one.valid_from <= on and (one.is_current or one.valid_to >= on))
            return held_then and predicate in (None, one.predicate)

        return self._first(is_asked_for, entity_id, limit, direction)

    def counts(self) -> Mapping[str, int]:
        facts = {_fact(one) for one in self._served() if one.is_current}
        return dict(sorted(Counter(predicate for _, predicate, _, _ in facts).items()))

    def total(self) -> int:
        return len({_fact(one) for one in self._served()})

    def forget(self, document_id: int) -> int:
        self.reopen(document_id)
        gone = [one for one in self._tables.triples if one.document_id == document_id]
        self._tables.triples = [one for one in self._tables.triples if one.document_id != document_id]
        left = {name for one in self._tables.triples for name in _ids(one)}
        left.update(*self._tables.mentions.values())
        for name in {name for one in gone for name in _ids(one)} - left:
            del self._tables.entities[name]
        return len(gone)

    def _add(self, triple: Triple) -> int:
        same = (one for one in self._tables.triples if one.document_id == triple.document_id)
        if triple.is_current and any(one.is_current and _fact(one) == _fact(triple) for one in same):
            return 0
        for one in (triple.subject, triple.object):
            if isinstance(one, Entity):
                self._tables.entities.setdefault(one.id, one)
        self._tables.triples = [*self._tables.triples, triple]
        return 1

    def _first(self, holds: Holds, entity_id: str, limit: int, direction: Direction) -> list[Triple]:
        ordered = _latest_first(one for one in self._served() if holds(one))
        outgoing = [one for one in ordered if one.subject.id == entity_id]
        incoming = [one for one in ordered if one.object_id == entity_id]
        wanted = {
            Direction.OUTGOING: outgoing,
            Direction.INCOMING: incoming,
            Direction.BOTH: [*outgoing, *incoming],
        }[direction]
        distinct: dict[object, Triple] = {}
        for one in wanted:
            distinct.setdefault((*_fact(one), one.valid_to), one)
        return [self._as_known(one) for one in list(distinct.values())[: max(limit, 0)]]

    def _served(self) -> list[Triple]:
        documents = self._tables.documents
        return [one for one in self._tables.triples if documents[one.document_id].inactive is None]

    def _as_known(self, triple: Triple) -> Triple:
        known = MemoryEntities(self._tables).known(_ids(triple))
        other = triple.object
        return replace(
            triple,
            subject=known[triple.subject.id],
            object=known[other.id] if isinstance(other, Entity) else other,
        )


def _fact(triple: Triple) -> tuple[str, str, str, str]:
    """
    Return the statement of a triple regardless of its document; an entity counts by its id, not its name.
    """
    own_text = "" if triple.object_id else triple.object_name
    return triple.subject.id, triple.predicate, triple.object_id, own_text


def _goes_on(triple: Triple, day: str) -> bool:
    """Whether the triple is valid after *day*, or would be if no document had ended it."""
    return triple.is_current or (triple.ended_by is not None and triple.valid_to > day)


def _ids(triple: Triple) -> list[str]:
    return [name for name in (triple.subject.id, triple.object_id) if name]


def _latest_first(triples: Iterable[Triple]) -> list[Triple]:
    """
    Sort current triples before ended ones, the latest end first; then by confidence, then by latest start.
    """
    # the sorts are stable, so the last one has priority
    ordered = sorted(triples, key=lambda one: one.valid_from, reverse=True)
    ordered.sort(key=lambda one: one.confidence, reverse=True)
    ordered.sort(key=lambda one: (one.is_current, one.valid_to), reverse=True)
    return ordered
