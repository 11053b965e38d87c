"""Near-copies behind the others."""

from __future__ import annotations

from clawmem.app.services.retrieval.request import RetrievalRequest, Unit
from clawmem.app.services.retrieval.trace import Trace
from clawmem.app.services.retrieval.work import Candidate, Stage, Work
from clawmem.domain.retrieval import diversity
from clawmem.ports.vault import Vault

SPREAD = 20  # candidates from the top that are compared with each other, whatever the limit
READ_FOR_DIVERSITY = 800  # characters of each text that are compared


def diversify(vault: Vault) -> Stage:
    """Near-copies of a better answer go behind the others; nothing is lost."""

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        if not request.diverse or request.unit is Unit.LINE:
            return work
        head, tail = work.candidates[:SPREAD], work.candidates[SPREAD:]
        spread = diversity.diversify(head, lambda c: _beginning(vault, c), enough=request.limit)
        return work.with_candidates([*spread, *tail])

    return stage


def _beginning(vault: Vault, candidate: Candidate) -> str:
    title = candidate.document.title if candidate.document else ""
    body = vault.documents.body(candidate.document_id) or ""
    return f"{title}\n{body[:READ_FOR_DIVERSITY]}"
