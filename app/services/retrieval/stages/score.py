"""Scoring: relevance and metadata as one score."""

from __future__ import annotations

import math
from collections.abc import Sequence

from clawmem.app.services.retrieval.request import Ranking, RetrievalRequest, Unit
from clawmem.app.services.retrieval.work import Candidate, Stage, Trace, Work
from clawmem.domain.retrieval import calibrated, composite
from clawmem.domain.retrieval.composite import signals_of
from clawmem.domain.retrieval.intent import TimeIntent
from clawmem.domain.retrieval.standing import standing
from clawmem.ports.documents import DocumentStore
from clawmem.ports.records import Document

_SAID = {
    TimeIntent.RECENT: "the question asks for what is recent",
    TimeIntent.CURRENT: "the question asks for what holds now",
}


def score(documents: DocumentStore) -> Stage:
    """Return a stage that scores candidates by relevance and metadata with the requested policy."""

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        wanted = _time_wanted(request)
        if wanted in _SAID:
            trace.stages[-1].notes.append(_SAID[wanted])
        scored = _scored_all(documents, request, wanted, work.candidates)
        known = {c.best for c in scored}
        trace.drop((c for c in work.candidates if c.best not in known), "not served")
        trace.drop((c for c in scored if c.score < request.min_score), "below the minimum score")
        kept = [c for c in scored if c.score >= request.min_score]
        ordered = sorted(kept, key=lambda c: (-c.score, c.best))
        return work.with_candidates(_sure_in_order(ordered) if request.unit is Unit.DOCUMENT else ordered)

    return stage


def _sure_in_order(ordered: Sequence[Candidate]) -> list[Candidate]:
    """Return *ordered* with their confidences in descending order: a confidence depends on the place in the list."""
    if any(one.confidence is None for one in ordered):
        return [*ordered]
    falling = sorted((one.confidence or 0.0 for one in ordered), reverse=True)
    return [one._replace(confidence=sure) for one, sure in zip(ordered, falling, strict=True)]


def _scored_all(
    store: DocumentStore, request: RetrievalRequest, wanted: TimeIntent, candidates: Sequence[Candidate]
) -> list[Candidate]:
    """Return the served candidates with their documents."""
    documents = store.many({c.document_id for c in candidates})
    found = ((c, documents.get(c.document_id)) for c in candidates)
    return [
        _scored(candidate, document, request, wanted)
        for candidate, document in found
        if document and document.inactive is None
    ]


def _time_wanted(request: RetrievalRequest) -> TimeIntent:
    if request.ranking is not Ranking.PUBLISHED:
        return request.question.time_intent
    return TimeIntent.RECENT if request.question.is_recency_asked else TimeIntent.ANY


def _scored(
    candidate: Candidate, document: Document, request: RetrievalRequest, wanted: TimeIntent
) -> Candidate:
    signals = signals_of(candidate.relevance, document, request.question.now_ms)
    recent = wanted is TimeIntent.RECENT
    if request.ranking is Ranking.PUBLISHED:
        score = composite.published(signals, recency_intent=recent)
        return candidate._replace(document=document, score=score)
    current = wanted is TimeIntent.CURRENT
    terms = calibrated.parts(candidate.relevance, signals, recency_intent=recent, current_intent=current)
    kept = standing(
        document.path,
        document.tags,
        document.content_type,
        request.question.forms.words,
        of_the_past=wanted is TimeIntent.HISTORY,
    )
    terms["standing"] = (kept - 1) * terms["relevance"]
    return candidate._replace(document=document, score=math.fsum(terms.values()), terms=terms)
