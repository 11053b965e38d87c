"""Recorded facts about an entity, which is found by name; statistics of all facts; and versions of notes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from clawmem.domain.documents.address import folded
from clawmem.domain.knowledge.entities import ids_of
from clawmem.ports.entities import Entity, EntityStore
from clawmem.ports.errors import Ambiguous, NotFound
from clawmem.ports.notes import Note
from clawmem.ports.records import Document
from clawmem.ports.stores import DocumentsWithKnowledge
from clawmem.ports.triples import Direction, Triple, check_day

SUGGESTIONS = 5
LOOKED_AT = 100_000  # entities whose names are compared
LEAST_LIKENESS = 75  # of 100; "Kowalcyk" and "Marta Kowalczyk" have 79, "Redis" and "Reeds" 80


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
    vault: DocumentsWithKnowledge,
    name: str,
    limit: int,
    direction: Direction = Direction.BOTH,
    on: str | None = None,
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


def entity_named(entities: EntityStore, name: str) -> Entity:
    """
    Return the entity with the id *name*, with that name, or with a name whose words begin so.

    Raises:
        Ambiguous: several entities match; the error lists their ids.
        NotFound: no entity matches; the error lists similar names.
    """
    known = entities.known([name, *ids_of(name)])
    found = [known[name]] if name in known else list(known.values()) or entities.search(name, SUGGESTIONS)
    if not found:
        raise NotFound(
            "entity", name, suggestions=[one.name for one in entities_like(entities, name, SUGGESTIONS)]
        )
    if len(found) > 1:
        raise Ambiguous(name, sorted(one.id for one in found))
    return found[0]


def entities_like(entities: EntityStore, name: str, limit: int) -> list[Entity]:
    """Return the entities whose names are spelled like *name* or a part of it, most similar first."""
    from rapidfuzz import fuzz, process  # rarely needed

    known = entities.frequent(LOOKED_AT)
    names = [folded(one.name) for one in known]
    near = process.extract(folded(name), names, scorer=fuzz.WRatio, score_cutoff=LEAST_LIKENESS, limit=limit)
    return [known[at] for _, _, at in near]


@dataclass(frozen=True, slots=True)
class Version:
    """
    One version of a note with the previous one, ``None`` for the first.

    ``cause`` is the document that triggered the version; ``None`` if it was the note's own document or is not served.
    """

    note: Note
    before: Note | None
    cause: Document | None


def versions(vault: DocumentsWithKnowledge, document_id: int, limit: int) -> list[Version]:
    """Return the last *limit* versions of the note about a served document, newest first."""
    history = vault.notes.history(document_id)
    causes = vault.documents.many({note.cause for note in history if note.cause is not None})
    served = {number: one for number, one in causes.items() if one.inactive is None}
    pairs = zip(history, [None, *history], strict=False)
    every = [Version(note, before, served.get(note.cause or 0)) for note, before in pairs]
    return every[::-1][: max(limit, 0)]
