"""Final ordering stage: place superseded notes below their successors."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from clawmem.app.services.documents.succession import known_by, successions_from
from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.trace import Trace
from clawmem.app.services.retrieval.work import Candidate, Stage, Work
from clawmem.domain.retrieval.intent import TimeIntent, time_intent
from clawmem.domain.retrieval.succession import successors
from clawmem.ports.vault import Vault


def successors_above(vault: Vault) -> Stage:
    """
    Return a stage that moves candidates of superseded notes below the first candidate of each successor.

    Questions about the past are left unchanged.
    """

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        found = {c.document_id for c in work.candidates}
        pairs = known_by(vault, successions_from(vault, found), request.as_of)
        if not pairs or time_intent(request.query) is TimeIntent.HISTORY:
            return work
        newer = {older: those & found for older, those in successors(pairs).items()}
        return work.with_candidates(_arranged(work.candidates, newer))

    return stage


def _arranged(candidates: Sequence[Candidate], newer: Mapping[int, Collection[int]]) -> list[Candidate]:
    """Return *candidates* in their order, but each one only after all of its successors."""
    placed: list[Candidate] = []
    waiting = list(candidates)
    while waiting:
        open_documents = {c.document_id for c in waiting} - {c.document_id for c in placed}
        chosen = next(c for c in waiting if open_documents.isdisjoint(newer.get(c.document_id, ())))
        waiting.remove(chosen)
        placed.append(chosen)
    return placed
