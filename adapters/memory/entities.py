from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import permutations

from clawmem.adapters.memory.scope import is_in
from clawmem.adapters.memory.tables import Tables
from clawmem.ports.entities import DOCUMENTS_EACH, MOST_COMPANIONS, Entity, Neighbour
from clawmem.ports.errors import InvalidInput
from clawmem.ports.folding import surfaces
from clawmem.ports.records import EVERYTHING, Scope
from clawmem.ports.triples import Triple


class MemoryEntities:
    """Reference ``EntityStore`` over dictionaries; counts are computed on request."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def set_mentions(self, document_id: int, entities: Sequence[Entity]) -> None:
        if document_id not in self._tables.documents:
            raise InvalidInput(
                "INVALID_INPUT", f"There is no document {document_id}, so it cannot mention entities."
            )
        for one in entities:
            self._tables.entities.setdefault(one.id, one)
        self._tables.mentions[document_id] = frozenset(one.id for one in entities)

    def forget(self, document_id: int) -> int:
        gone = self._tables.mentions.pop(document_id, frozenset())
        left = frozenset[str]().union(*self._tables.mentions.values())
        said = {part for one in self._tables.triples for part in (one.subject.id, one.object_id)}
        for name in gone - left - said:
            del self._tables.entities[name]
        return len(gone)

    def merge(self, entity_id: str, into: Entity) -> bool:
        if entity_id not in self._tables.entities or entity_id == into.id:
            return False
        into = self._tables.entities.setdefault(into.id, into)
        for document_id, mentioned in self._tables.mentions.items():
            if entity_id in mentioned:
                self._tables.mentions[document_id] = mentioned - {entity_id} | {into.id}
        moved = [_moved(one, entity_id, into) for one in self._tables.triples]
        kept: dict[object, Triple] = {}
        for one in moved:
            said = (one.document_id, one.subject.id, one.predicate, one.object_id or one.object_name)
            if one.subject.id != one.object_id:
                kept.setdefault(said if one.is_current else (said, id(one)), one)
        self._tables.triples = list(kept.values())
        del self._tables.entities[entity_id]
        return True

    def mentions(self, document_id: int) -> list[Entity]:
        return self._counted(self._served(EVERYTHING).get(document_id, ()))

    def mentioning(self, entity_id: str, limit: int) -> list[int]:
        served = self._served(EVERYTHING)
        return sorted((n for n in served if entity_id in served[n]), reverse=True)[: max(limit, 0)]

    def known(self, ids: Iterable[str]) -> dict[str, Entity]:
        return {one.id: one for one in self._counted(self._tables.entities.keys() & set(ids))}

    def search(self, text: str, limit: int) -> list[Entity]:
        words = surfaces(text)
        every = self._counted(self._tables.entities) if words else []
        fitting = [one for one in every if one.mention_count and _fits(one.name, words)]
        return sorted(fitting, key=lambda one: (-one.mention_count, one.id))[: max(limit, 0)]

    def neighbours(
        self, document_ids: Iterable[int], limit: int, scope: Scope = EVERYTHING
    ) -> list[Neighbour]:
        seeds = set(document_ids)
        best: dict[int, int] = {}
        for entity, count in self._companions(seeds):
            for document_id in self._documents(entity, seeds, scope):
                best.setdefault(document_id, count)
        found = sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))
        return [Neighbour(*pair) for pair in found[: max(limit, 0)]]

    def _companions(self, seeds: Collection[int]) -> list[tuple[str, int]]:
        served = self._served(EVERYTHING)
        named = {entity for document_id in seeds for entity in served.get(document_id, ())}
        pairs = Counter(pair for mentioned in served.values() for pair in permutations(mentioned, 2))
        together: dict[str, int] = {}
        for (entity, companion), count in pairs.items():
            if entity in named:
                together[companion] = max(count, together.get(companion, 0))
        return sorted(together.items(), key=lambda pair: (-pair[1], pair[0]))[:MOST_COMPANIONS]

    def _documents(self, entity: str, seeds: Collection[int], scope: Scope) -> list[int]:
        served = self._served(scope)
        mentioning = [number for number in served if entity in served[number] and number not in seeds]
        return sorted(mentioning, reverse=True)[:DOCUMENTS_EACH]

    def _served(self, scope: Scope) -> dict[int, frozenset[str]]:
        documents = self._tables.documents
        return {
            number: mentioned
            for number, mentioned in self._tables.mentions.items()
            if documents[number].inactive is None and is_in(scope, documents[number])
        }

    def _counted(self, ids: Iterable[str]) -> list[Entity]:
        counts = Counter(entity for mentioned in self._served(EVERYTHING).values() for entity in mentioned)
        return [self._tables.entities[name]._replace(mention_count=counts[name]) for name in sorted(ids)]


def _moved(triple: Triple, gone: str, into: Entity) -> Triple:
    """Return *triple* with the entity *gone* replaced by *into*."""
    subject = into if triple.subject.id == gone else triple.subject
    return replace(triple, subject=subject, object=into if triple.object_id == gone else triple.object)


def _fits(name: str, words: Sequence[str]) -> bool:
    held = surfaces(name)
    return all(any(own.startswith(word) for own in held) for word in words)
