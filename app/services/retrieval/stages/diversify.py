"""Near-copies behind the others."""

from __future__ import annotations

from collections.abc import Mapping

from clawmem.app.services.retrieval.request import RetrievalRequest, Unit
from clawmem.app.services.retrieval.trace import Trace
from clawmem.app.services.retrieval.work import Candidate, Stage, Work
from clawmem.domain.retrieval import diversity
from clawmem.ports.vault import Vault

SPREAD = 20  # candidates from the top that are compared with each other, whatever the limit
READ_FOR_DIVERSITY = 800  # characters of each text that are compared


def compared(request: RetrievalRequest) -> int:
    """How many places matter, those included from which something may move up."""
    return max(request.limit, SPREAD)


def diversify(vault: Vault) -> Stage:
    """Near-copies of a better answer go behind the others; nothing is lost."""

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
