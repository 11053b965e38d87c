"""Successions that concern another passage of a superseded note than the one that answers the question."""

from __future__ import annotations

from collections.abc import Iterable

from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.domain.documents.names import searchable_names
from clawmem.domain.retrieval.succession import is_replaced, passages_of, successors
from clawmem.ports.documents import DocumentStore, Succession


def partly_superseded(
    store: DocumentStore, request: RetrievalRequest, pairs: set[Succession], found: Iterable[int]
) -> frozenset[int]:
    """Return those documents of *found* whose answering passage none of their successors replaces."""
    newer = {older: those for older, those in successors(pairs).items() if those}
    asked = request.question.demands
    older = newer.keys() & set(found)
    numbers = older.union(*(newer[number] for number in older))
    documents, bodies = store.many(numbers), store.bodies(numbers)
    texts = {
        number: f"{' '.join(searchable_names(document))}\n{bodies.get(number, '')}"
        for number, document in documents.items()
    }
    return frozenset(
        number
        for number in older
        if len(passages := passages_of(bodies.get(number, ""))) > 1
        and not any(is_replaced(asked, passages, texts[one]) for one in newer[number] if one in texts)
    )
