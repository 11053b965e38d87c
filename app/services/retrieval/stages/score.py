"""Relevance and what is known of a document, as one score."""

from __future__ import annotations

import math
from dataclasses import replace

from clawmem.app.services.retrieval.request import Ranking, RetrievalRequest
from clawmem.app.services.retrieval.stages.signals import signals_of
from clawmem.app.services.retrieval.trace import Trace
from clawmem.app.services.retrieval.work import Candidate, Stage, Work
from clawmem.domain.retrieval import calibrated, composite
from clawmem.domain.retrieval.intent import has_recency_intent
from clawmem.ports.vault import Vault


def score(vault: Vault) -> Stage:
    """Relevance and what the vault knows of each document, by the policy that was asked for."""

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        documents = vault.documents.many({c.document_id for c in work.candidates})
        recent = has_recency_intent(request.query)
        if recent:
            trace.stages[-1].notes.append("the question asks for what is recent")
        scored = [
            _scored(replace(c, document=documents[c.document_id]), request, recent)
            for c in work.candidates
            if c.document_id in documents and documents[c.document_id].inactive is None
        ]
        served = {c.best for c in scored}
        trace.drop((c for c in work.candidates if c.best not in served), "not served any more")
        kept = [c for c in scored if c.score >= request.min_score]
        trace.drop((c for c in scored if c.score < request.min_score), "below the minimum score")
        return work.with_candidates(sorted(kept, key=lambda c: (-c.score, c.best)))

    return stage


def _scored(candidate: Candidate, request: RetrievalRequest, recent: bool) -> Candidate:
    signals = signals_of(candidate, request.now_ms)
    if request.ranking is Ranking.PUBLISHED:
        value = composite.published(signals, recency_intent=recent)
        return replace(candidate, score=value)
    terms = calibrated.parts(candidate.relevance, signals, recency_intent=recent)
    return replace(candidate, score=math.fsum(terms.values()), terms=terms)
