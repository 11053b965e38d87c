"""Successors of superseded documents, looked up in batches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from clawmem.domain.retrieval.succession import last_successors
from clawmem.ports.documents import ClaimKind, DocumentStore, Succession, SuccessionStore
from clawmem.ports.records import Document


def successions_from(successions: SuccessionStore, document_ids: Iterable[int]) -> set[Succession]:
    """Return all successions that start at these documents, transitively."""
    pairs: set[Succession] = set()
    waiting, known = set(document_ids), set[int]()
    while waiting:
        known |= waiting
        direct = successions.direct(waiting)
        pairs |= direct
        waiting = {pair.newer for pair in direct} - known
    return pairs


def successions_to(
    store: DocumentStore, successions: SuccessionStore, documents: Iterable[Document]
) -> set[Succession]:
    """Return all successions that end at these documents, transitively. It reads every claim, so ask it rarely."""
    claims = successions.claims()
    pairs: set[Succession] = set()
    waiting, known = {note.id: note for note in documents}, set[int]()
    while waiting:
        known |= waiting.keys()
        places = {(note.collection, note.path) for note in waiting.values()}
        claiming = {c.document_id for c in claims if c.kind is ClaimKind.SUPERSEDED_BY and c.place in places}
        named = (c.place for c in claims if c.kind is ClaimKind.SUPERSEDES and c.document_id in waiting)
        at_place = [note for place in named if (note := store.at(*place))]
        older = claiming | {same.id for note in at_place for same in store.holding(note.hash)}
        direct = {pair for pair in successions.direct(older) if pair.newer in waiting}
        pairs |= direct
        waiting = store.many({pair.older for pair in direct} - known)
    return pairs


def known_by(store: DocumentStore, pairs: set[Succession], as_of: str | None) -> set[Succession]:
    """Return the successions between documents written before *as_of*: later notes supersede nothing yet."""
    if as_of is None or not pairs:
        return pairs
    documents = store.many({number for pair in pairs for number in (pair.older, pair.newer)})
    known = {number for number, document in documents.items() if document.authored_at < as_of}
    return {pair for pair in pairs if pair.older in known and pair.newer in known}


def current_successors(
    store: DocumentStore,
    successions: SuccessionStore,
    document_ids: Iterable[int],
    as_of: str | None = None,
) -> Mapping[int, Document]:
    """
    Return the current successor of each superseded document; other documents are left out.

    Of several successors it is the last written one. Documents written at *as_of* or later are ignored.
    """
    pairs = known_by(store, successions_from(successions, document_ids), as_of)
    if not pairs:
        return {}
    last = last_successors(pairs)
    documents = store.many({number for newest in last.values() for number in newest})
    return {
        older: max((documents[number] for number in newest), key=lambda note: (note.authored_at, note.id))
        for older, newest in last.items()
    }
