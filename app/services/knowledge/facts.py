"""What is known of somebody or something, and how much is known of everything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from clawmem.app.services.knowledge.naming import entity_named
from clawmem.ports.entities import Entity
from clawmem.ports.records import Document
from clawmem.ports.triples import Direction, Triple, check_day
from clawmem.ports.vault import Vault


@dataclass(frozen=True, slots=True)
class Known:
    """
    Triples of one entity: what holds first, then what has ended; and the documents that they come from, by id.

    ``total`` and ``current`` count different things that are said of anything, ``predicates`` those that hold.
    """

    entity: Entity
    triples: list[Triple]
    documents: Mapping[int, Document]
    total: int
    current: int
    predicates: Mapping[str, int]


def known_of(
    vault: Vault, name: str, limit: int, direction: Direction = Direction.BOTH, on: str | None = None
) -> Known:
    """
    What documents say of what is called *name*, or has it as its id; only what held *on* a day, if one is given.

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
    return Known(
        entity, triples, vault.documents.many(sources), vault.triples.total(), sum(counts.values()), counts
    )
