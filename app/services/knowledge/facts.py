"""Recorded facts about an entity, which is found by name; statistics of all facts; and versions of notes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz, process

from clawmem.domain.documents.address import folded
from clawmem.domain.knowledge.entities import ids_of
from clawmem.domain.knowledge.triples import MIGRATED_TO, REPLACED, Statement, ends_statement
from clawmem.domain.security.origin import is_verified
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import Ambiguous, NotFound
from clawmem.ports.knowledge import (
    Direction,
    Entity,
    EntityStore,
    Note,
    NoteStore,
    Triple,
    TripleStore,
    check_day,
)
from clawmem.ports.records import Document

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
    documents: DocumentStore,
    entities: EntityStore,
    triples: TripleStore,
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
    entity = entity_named(entities, name)
    facts = triples.recorded(entity.id, limit, direction, on=on)
    sources = {fact.document_id for fact in facts} | {fact.ended_by for fact in facts if fact.ended_by}
    counts = triples.counts()
    return EntityFacts(entity, facts, documents.many(sources), triples.total(), sum(counts.values()), counts)


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
            "entity", name, suggestions=[entity.name for entity in entities_like(entities, name, SUGGESTIONS)]
        )
    if len(found) > 1:
        raise Ambiguous(name, sorted(entity.id for entity in found))
    return found[0]


def entities_like(entities: EntityStore, name: str, limit: int) -> list[Entity]:
    """Return the entities whose names are spelled like *name* or a part of it, most similar first."""
    known = entities.frequent(LOOKED_AT)
    names = [folded(entity.name) for entity in known]
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


def versions(documents: DocumentStore, notes: NoteStore, document_id: int, limit: int) -> list[Version]:
    """Return the last *limit* versions of the note about a served document, newest first."""
    history = notes.history(document_id)
    causes = documents.many({note.cause for note in history if note.cause is not None})
    served = {number: document for number, document in causes.items() if document.inactive is None}
    pairs = zip(history, [None, *history], strict=False)
    every = [Version(note, before, served.get(note.cause or 0)) for note, before in pairs]
    return every[::-1][: max(limit, 0)]


MOST_HELD = 1000  # facts per entity that are checked


class Facts:
    """The ending of facts by later ones that contradict them. To be called inside `Transactions.writing`."""

    def __init__(self, documents: DocumentStore, triples: TripleStore) -> None:
        self._documents = documents
        self._triples = triples

    def end_replaced(self, new: Sequence[Triple]) -> int:
        """
        End the facts that *new*, the stored facts of one document, replace; return the number of ended facts.

        Facts in *new* may have ended, too: an older document is often read after the one that contradicts it.
        """
        over = [*self._over_since(new)]
        for document_id in {later.document_id for later in self._stated_later(new)}:
            over += self._over_since(self._triples.of_document(document_id))
        over.sort(key=lambda pair: pair[1].valid_from)  # the earliest contradiction ends a fact
        return sum([self._triples.end(fact, last.valid_from, last.document_id) for fact, last in over])

    def reopen(self, document_id: int) -> None:
        """Reopen the facts that a withdrawn document ended, unless a remaining document ends them as well."""
        self.end_again(self._triples.reopen(document_id))

    def end_again(self, reopened: Sequence[Triple]) -> None:
        """End the *reopened* facts again if another document still contradicts them."""
        for number in {fact.document_id for fact in reopened}:
            self.end_replaced([fact for fact in reopened if fact.document_id == number])

    def reapply(self, document_id: int) -> None:
        """Apply the facts of a document that is served again: end those they replace, and those of them that ended."""
        if facts := self._triples.of_document(document_id):
            self.end_replaced(facts)

    def _over_since(self, stated: Sequence[Triple]) -> Iterator[tuple[Triple, Triple]]:
        """
        Yield each fact that *stated*, the facts of one document, ends, with the fact that ends it.

        Only facts of verified documents end others.
        """
        sources = self._documents.many({fact.document_id for fact in stated}).values()
        if not all(is_verified(source.origin) for source in sources):
            return
        statements = {in_ids(fact) for fact in stated}
        for last in stated:
            for fact in self._touched(last):
                if ends_statement(statements, in_ids(fact)):
                    yield fact, last

    def _touched(self, triple: Triple) -> list[Triple]:
        """Return the recorded facts about the subject of a move, or about the object of a replacement."""
        if triple.predicate == MIGRATED_TO:
            return self._triples.recorded(triple.subject.id, MOST_HELD, Direction.OUTGOING)
        if triple.predicate == REPLACED:
            return self._triples.recorded(triple.object_id, MOST_HELD, Direction.INCOMING)
        return []

    def _stated_later(self, new: Sequence[Triple]) -> Iterator[Triple]:
        """Yield the moves and replacements of the same entities that were stated on a later day."""
        since = min((fact.valid_from for fact in new), default="")
        recorded = self._triples.recorded
        for thing in {fact.subject.id for fact in new}:
            moves = recorded(thing, MOST_HELD, Direction.OUTGOING, predicate=MIGRATED_TO)
            yield from (move for move in moves if move.valid_from > since)
        for thing in {fact.object_id for fact in new if fact.object_id}:
            replacements = recorded(thing, MOST_HELD, Direction.INCOMING, predicate=REPLACED)
            yield from (replacement for replacement in replacements if replacement.valid_from > since)


def in_ids(triple: Triple) -> Statement:
    """Return the statement of *triple* without its document: entities by id, a literal as its text."""
    return Statement(triple.subject.id, triple.predicate, triple.object_id or triple.object_name)
