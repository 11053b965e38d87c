"""Candidates from vector hits alone."""

from __future__ import annotations

from clawmem.app.services.retrieval.legs.vector import VECTOR
from clawmem.app.services.retrieval.request import RetrievalRequest, Unit
from clawmem.app.services.retrieval.trace import Trace
from clawmem.app.services.retrieval.work import Candidate, Stage, Work
from clawmem.ports.records import FragmentKind, Hit
from clawmem.ports.vault import Vault


def nearest(vault: Vault) -> Stage:
    """Return a stage that makes candidates from vector hits; relevance is the cosine of the best fragment."""

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        hits = list(work.legs.get(VECTOR, ()))
        if request.unit is Unit.LINE:
            spans = vault.documents.spans(hit.key for hit in hits)
            wide = (FragmentKind.DOCUMENT, FragmentKind.SECTION)
            hits = [hit for hit in hits if hit.key in spans and spans[hit.key].kind not in wide]
            return work.with_candidates([_by_cosine(hit)._replace(span=spans[hit.key]) for hit in hits])
        best: dict[int, Hit] = {}
        for hit in hits:
            best.setdefault(hit.key.document_id, hit)
        return work.with_candidates([_by_cosine(hit) for hit in best.values()])

    return stage


def _by_cosine(hit: Hit) -> Candidate:
    relevance = max(0.0, hit.score)
    return Candidate(hit.key.document_id, hit.key, relevance, relevance, {VECTOR: hit.score})
