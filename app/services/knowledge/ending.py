"""Ending of facts that an explicit statement contradicts, independent of the order in which documents are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clawmem.domain.knowledge.triples import MIGRATED_TO, REPLACED, Statement, ends_statement
from clawmem.domain.security.origin import is_verified
from clawmem.ports.documents import DocumentStore
from clawmem.ports.stores import DocumentsWithKnowledge
from clawmem.ports.triples import Direction, Triple, TripleStore

MOST_HELD = 1000  # facts per entity that are checked


def end_replaced_facts(vault: DocumentsWithKnowledge, new: Sequence[Triple]) -> int:
    """
    End the facts that *new*, the stored facts of one document, replace; return the number of ended facts.

    Facts in *new* may have ended, too: an older document is often read after the one that contradicts it.
    """
    over = [*_over_since(vault, new)]
    for document_id in {one.document_id for one in _said_later(vault.triples, new)}:
        over += _over_since(vault, vault.triples.of_document(document_id))
    over.sort(key=lambda pair: pair[1].valid_from)  # the earliest contradiction ends a fact
    return sum([vault.triples.end(held, last.valid_from, last.document_id) for held, last in over])


def reopen_ended_facts(vault: DocumentsWithKnowledge, document_id: int) -> None:
    """Reopen the facts that a withdrawn document ended, unless a remaining document ends them as well."""
    end_reopened_facts(vault, vault.triples.reopen(document_id))


def end_reopened_facts(vault: DocumentsWithKnowledge, reopened: Sequence[Triple]) -> None:
    """End the *reopened* facts again if another document still contradicts them."""
    for number in {one.document_id for one in reopened}:
        end_replaced_facts(vault, [one for one in reopened if one.document_id == number])


def reapply_facts(vault: DocumentsWithKnowledge, document_id: int) -> None:
    """Apply the facts of a document that is served again: end those they replace, and those of them that ended."""
    if said := vault.triples.of_document(document_id):
        end_replaced_facts(vault, said)


def _over_since(vault: DocumentsWithKnowledge, said: Sequence[Triple]) -> Iterator[tuple[Triple, Triple]]:
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
