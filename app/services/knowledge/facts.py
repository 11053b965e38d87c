"""Recorded facts about an entity, which is found by name; statistics of all facts; and versions of notes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from clawmem.domain.documents.address import folded
from clawmem.domain.knowledge.entities import ids_of
from clawmem.domain.knowledge.triples import MIGRATED_TO, REPLACED, Statement, ends_statement
from clawmem.domain.security.origin import is_verified
from clawmem.ports.documents import DocumentStore
from clawmem.ports.entities import Entity, EntityStore
from clawmem.ports.errors import Ambiguous, NotFound
from clawmem.ports.notes import Note
from clawmem.ports.records import Document
from clawmem.ports.triples import Direction, Triple, TripleStore, check_day
from clawmem.ports.vault import Vault

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
    vault: Vault,
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


def versions(vault: Vault, document_id: int, limit: int) -> list[Version]:
    """Return the last *limit* versions of the note about a served document, newest first."""
    history = vault.notes.history(document_id)
    causes = vault.documents.many({note.cause for note in history if note.cause is not None})
    served = {number: one for number, one in causes.items() if one.inactive is None}
    pairs = zip(history, [None, *history], strict=False)
    every = [Version(note, before, served.get(note.cause or 0)) for note, before in pairs]
    return every[::-1][: max(limit, 0)]


MOST_HELD = 1000  # facts per entity that are checked


def end_replaced_facts(vault: Vault, new: Sequence[Triple]) -> int:
    """
    End the facts that *new*, the stored facts of one document, replace; return the number of ended facts.

    Facts in *new* may have ended, too: an older document is often read after the one that contradicts it.
    """
    over = [*_over_since(vault, new)]
    for document_id in {one.document_id for one in _said_later(vault.triples, new)}:
        over += _over_since(vault, vault.triples.of_document(document_id))
    over.sort(key=lambda pair: pair[1].valid_from)  # the earliest contradiction ends a fact
    return sum([vault.triples.end(held, last.valid_from, last.document_id) for held, last in over])


def reopen_ended_facts(vault: Vault, document_id: int) -> None:
    """Reopen the facts that a withdrawn document ended, unless a remaining document ends them as well."""
    end_reopened_facts(vault, vault.triples.reopen(document_id))


def end_reopened_facts(vault: Vault, reopened: Sequence[Triple]) -> None:
    """End the *reopened* facts again if another document still contradicts them."""
    for number in {one.document_id for one in reopened}:
        end_replaced_facts(vault, [one for one in reopened if one.document_id == number])


def reapply_facts(vault: Vault, document_id: int) -> None:
    """Apply the facts of a document that is served again: end those they replace, and those of them that ended."""
    if said := vault.triples.of_document(document_id):
        end_replaced_facts(vault, said)


def _over_since(vault: Vault, said: Sequence[Triple]) -> Iterator[tuple[Triple, Triple]]:
    """
    Yield each fact that *said*, the facts of one document, ends, with the fact that ends it.

    Only facts of verified documents end others.
    """
    if not _may_end(vault.documents, said):
        return
    statements = {in_ids(one) for one in said}
    for last in said:
        for held in _touched(vault.triples, last):
            if ends_statement(statements, in_ids(held)):
                yield held, last


def _may_end(documents: DocumentStore, said: Sequence[Triple]) -> bool:
    sources = documents.many({one.document_id for one in said})
    return all(is_verified(one.origin) for one in sources.values())


def _touched(triples: TripleStore, triple: Triple) -> list[Triple]:
    """Return the recorded facts about the subject of a move, or about the object of a replacement."""
    if triple.predicate == MIGRATED_TO:
        return triples.recorded(triple.subject.id, MOST_HELD, Direction.OUTGOING)
    if triple.predicate == REPLACED:
        return triples.recorded(triple.object_id, MOST_HELD, Direction.INCOMING)
    return []


def _said_later(triples: TripleStore, new: Sequence[Triple]) -> Iterator[Triple]:
    """Yield the moves and replacements of the same entities that were stated on a later day."""
    since = min((one.valid_from for one in new), default="")
    ever = triples.recorded
    for thing in {one.subject.id for one in new}:
        moves = ever(thing, MOST_HELD, Direction.OUTGOING, predicate=MIGRATED_TO)
        yield from (one for one in moves if one.valid_from > since)
    for thing in {one.object_id for one in new if one.object_id}:
        replacements = ever(thing, MOST_HELD, Direction.INCOMING, predicate=REPLACED)
        yield from (one for one in replacements if one.valid_from > since)


def in_ids(triple: Triple) -> Statement:
    """Return the statement of *triple* without its document: entities by id, a literal as its text."""
    return Statement(triple.subject.id, triple.predicate, triple.object_id or triple.object_name)
