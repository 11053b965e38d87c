from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from itertools import groupby, islice

from clawmem.adapters.memory.scope import is_in
from clawmem.adapters.memory.tables import RelationKey, Tables
from clawmem.ports.errors import InvalidInput
from clawmem.ports.origin import Origin, least_trusted
from clawmem.ports.records import EVERYTHING, Scope
from clawmem.ports.relations import EVERY_KIND, Relation, RelationKind, check_relation


class MemoryRelations:
    """Reference ``RelationStore`` over a dictionary, without the speed that the port promises."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def put(self, relations: Iterable[Relation]) -> int:
        given = list(relations)
        self._refuse(given)
        return sum(self._set(relation) for relation in given)

    def renew(
        self, kind: RelationKind, origin: str, sources: Iterable[int], relations: Iterable[Relation]
    ) -> int:
        given = list(relations)
        self._refuse(given)
        kept, begin = {_key(relation) for relation in given}, set(sources)
        own = [r for r in self._all() if (r.kind, r.origin) == (kind, origin) and r.source in begin]
        gone = [_key(relation) for relation in own if _key(relation) not in kept]
        for key in gone:
            del self._tables.relations[key]
        return len(gone) + sum(self._set(r) for r in given if self._is_free_for(r))

    def outbound(
        self,
        document_ids: Iterable[int],
        kinds: Collection[RelationKind] = EVERY_KIND,
        *,
        limit: int,
        scope: Scope = EVERYTHING,
    ) -> list[Relation]:
        return self._strongest(document_ids, kinds, limit, scope, lambda r: (r.source, r.target))

    def inbound(
        self,
        document_ids: Iterable[int],
        kinds: Collection[RelationKind] = EVERY_KIND,
        *,
        limit: int,
        scope: Scope = EVERYTHING,
    ) -> list[Relation]:
        return self._strongest(document_ids, kinds, limit, scope, lambda r: (r.target, r.source))

    def forget(self, document_id: int) -> int:
        gone = [_key(r) for r in self._all() if document_id in (r.source, r.target)]
        for key in gone:
            del self._tables.relations[key]
        return len(gone)

    def counts(self) -> dict[RelationKind, int]:
        answered = [r.kind for r in self._all() if self._is_served(r.source) and self._is_served(r.target)]
        return {kind: answered.count(kind) for kind in set(answered)}

    def _strongest(
        self,
        document_ids: Iterable[int],
        kinds: Collection[RelationKind],
        limit: int,
        scope: Scope,
        ends: Callable[[Relation], tuple[int, int]],
    ) -> list[Relation]:
        asked = set(document_ids)

        def place(relation: Relation) -> tuple[int, str]:
            return ends(relation)[0], relation.kind.value

        def is_seen(relation: Relation) -> bool:
            near, far = ends(relation)
            return (
                near in asked
                and relation.kind in kinds
                and self._is_served(near)
                and self._is_served(far, scope)
            )

        seen = sorted(filter(is_seen, self._all()), key=lambda r: (*place(r), -r.weight, ends(r)[1]))
        strongest = [r for _, group in groupby(seen, place) for r in islice(group, max(limit, 0))]
        return [r._replace(trust=self._trust(r)) for r in strongest]

    def _all(self) -> list[Relation]:
        return [*self._tables.relations.values()]

    def _is_served(self, document_id: int, scope: Scope = EVERYTHING) -> bool:
        document = self._tables.documents[document_id]
        return document.inactive is None and is_in(scope, document)

    def _trust(self, relation: Relation) -> Origin:
        return least_trusted(self._tables.documents[end].origin for end in (relation.source, relation.target))

    def _is_free_for(self, relation: Relation) -> bool:
        there = self._tables.relations.get(_key(relation))
        return there is None or there.origin == relation.origin

    def _set(self, relation: Relation) -> bool:
        there = self._tables.relations.get(_key(relation))
        kept = relation._replace(metadata=dict(relation.metadata), trust=Origin.USER)
        if there and there._replace(created_at=relation.created_at) == kept:
            return False
        self._tables.relations[_key(relation)] = kept
        return True

    def _refuse(self, relations: Iterable[Relation]) -> None:
        for relation in relations:
            check_relation(relation)
            for end in (relation.source, relation.target):
                if end not in self._tables.documents:
                    raise InvalidInput(
                        "INVALID_INPUT", f"There is no document {end}. No relation was stored."
                    )


def _key(relation: Relation) -> RelationKey:
    return (relation.source, relation.target, relation.kind)
