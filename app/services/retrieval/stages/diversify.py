"""Demotion of near-duplicates."""

from __future__ import annotations

from collections.abc import Mapping

from clawmem.app.services.retrieval.request import RetrievalRequest, Unit
from clawmem.app.services.retrieval.trace import Trace
from clawmem.app.services.retrieval.work import Candidate, Stage, Work
from clawmem.domain.retrieval import diversity
from clawmem.ports.vault import Vault

SPREAD = 20  # first candidates that are compared with each other, independent of the limit
READ_FOR_DIVERSITY = 800  # characters compared per text


def diversify(vault: Vault) -> Stage:
    """Return a stage that moves near-duplicates of a better result behind the others; it drops nothing."""

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        if not request.diverse or request.unit is Unit.LINE:
            return work
        head, tail = work.candidates[:SPREAD], work.candidates[SPREAD:]
        bodies = vault.documents.bodies(c.document_id for c in head)
        spread = diversity.diversify(head, lambda c: _beginning(c, bodies), enough=request.limit)
        return work.with_candidates([*spread, *tail])

    return stage


def _beginning(candidate: Candidate, bodies: Mapping[int, str]) -> str:
    title = candidate.document.title if candidate.document else ""
    return f"{title}\n{bodies.get(candidate.document_id, '')[:READ_FOR_DIVERSITY]}"
