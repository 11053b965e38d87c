"""Successors of superseded documents, looked up in batches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from clawmem.domain.retrieval.versions import last_successors
from clawmem.domain.text.written_dates import local_moment
from clawmem.ports.documents import DocumentStore, Succession, SuccessionStore
from clawmem.ports.records import Document


def successions_from(
    store: DocumentStore, successions: SuccessionStore, document_ids: Iterable[int], as_of: str | None = None
) -> set[Succession]:
    """
    Return all successions that start at these documents, transitively.

    With *as_of* only those between documents written before it: later notes supersede nothing yet.
    """
    pairs: set[Succession] = set()
    waiting, known = set(document_ids), set[int]()
    while waiting:
        known |= waiting
        direct = successions.direct(waiting)
        pairs |= direct
        waiting = {pair.newer for pair in direct} - known
    if as_of is None or not pairs:
        return pairs
    documents = store.many({number for pair in pairs for number in (pair.older, pair.newer)})
    known = {number for number, document in documents.items() if local_moment(document.authored_at) < as_of}
    return {pair for pair in pairs if pair.older in known and pair.newer in known}


def current_successors(
    store: DocumentStore, successions: SuccessionStore, document_ids: Iterable[int], as_of: str | None = None
) -> Mapping[int, Document]:
    """
    Return the current successor of each superseded document; other documents are left out.

    Of several successors it is the last written one. Documents written at *as_of* or later are ignored.
    """
    last = last_successors(successions_from(store, successions, document_ids, as_of))
    documents = store.many({number for newest in last.values() for number in newest})
    return {
        older: max((documents[number] for number in newest), key=lambda note: (note.authored_at, note.id))
        for older, newest in last.items()
    }
