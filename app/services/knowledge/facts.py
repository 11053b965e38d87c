"""Recorded facts about an entity, and statistics of all facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from clawmem.app.services.knowledge.naming import entity_named
from clawmem.ports.entities import Entity
from clawmem.ports.records import Document
from clawmem.ports.triples import Direction, Triple, check_day
from clawmem.ports.vault import Vault


@dataclass(frozen=True, slots=True)
class EntityFacts:
    """
    Facts of one entity, current ones first, then ended ones; and the documents that state them, by id.

    ``total`` and ``current`` count distinct facts of all entities, ``predicates`` counts the current ones by predicate.
    """

    entity: Entity
    triples: list[Triple]
    documents: Mapping[int, Document]
    total: int
    current: int
    predicates: Mapping[str, int]


def entity_facts(
    vault: Vault, name: str, limit: int, direction: Direction = Direction.BOTH, on: str | None = None
) -> EntityFacts:
    """
    Return the facts of the entity with the name or id *name*; only those valid *on* a day, if one is given.

    Raises:
        NotFound, Ambiguous: see `entity_named`.
        InvalidInput: *on* is no day.
    """
    if on is not None:
        check_day(on)
    entity = entity_named(vault.entities, name)
    triples = vault.triples.recorded(entity.id, limit, direction, on=on)
    sources = {one.document_id for one in triples} | {one.ended_by for one in triples if one.ended_by}
    counts = vault.triples.counts()
    return EntityFacts(
        entity, triples, vault.documents.many(sources), vault.triples.total(), sum(counts.values()), counts
    )
