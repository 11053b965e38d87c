"""Relevance and what is known of a document, as one score."""

from __future__ import annotations

import math

from clawmem.app.services.retrieval.request import Ranking, RetrievalRequest
from clawmem.app.services.retrieval.stages.signals import signals_of
from clawmem.app.services.retrieval.trace import Trace
from clawmem.app.services.retrieval.work import Candidate, Stage, Work
from clawmem.domain.retrieval import calibrated, composite
from clawmem.domain.retrieval.intent import TimeIntent, has_recency_intent, time_intent
from clawmem.ports.records import Document
from clawmem.ports.vault import Vault

_SAID = {
    TimeIntent.RECENT: "the question asks for what is recent",
    TimeIntent.CURRENT: "the question asks for what holds now",
}


def score(vault: Vault) -> Stage:
    """Relevance and what the vault knows of each document, by the policy that was asked for."""

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        documents = vault.documents.many({c.document_id for c in work.candidates})
        wanted = _time_wanted(request)
        if wanted in _SAID:
            trace.stages[-1].notes.append(_SAID[wanted])
        scored = [
            _scored(c, documents[c.document_id], request, wanted)
            for c in work.candidates
            if c.document_id in documents and documents[c.document_id].inactive is None
        ]
        served = {c.best for c in scored}
        trace.drop((c for c in work.candidates if c.best not in served), "not served any more")
        kept = [c for c in scored if c.score >= request.min_score]
        trace.drop((c for c in scored if c.score < request.min_score), "below the minimum score")
        return work.with_candidates(sorted(kept, key=lambda c: (-c.score, c.best)))

    return stage


def _time_wanted(request: RetrievalRequest) -> TimeIntent:
    if request.ranking is Ranking.CALIBRATED:
        return time_intent(request.query)
    return TimeIntent.RECENT if has_recency_intent(request.query) else TimeIntent.ANY


def _scored(
    candidate: Candidate, document: Document, request: RetrievalRequest, wanted: TimeIntent
) -> Candidate:
    signals = signals_of(candidate.relevance, document, request.now_ms)
    recent = wanted is TimeIntent.RECENT
    if request.ranking is Ranking.PUBLISHED:
        score = composite.published(signals, recency_intent=recent)
        return candidate._replace(document=document, score=score)
    current = wanted is TimeIntent.CURRENT
    terms = calibrated.parts(candidate.relevance, signals, recency_intent=recent, current_intent=current)
    return candidate._replace(document=document, score=math.fsum(terms.values()), terms=terms)
