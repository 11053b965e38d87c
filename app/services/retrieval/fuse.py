"""Fusion of the hits of all retrievers into one list of candidates."""

from collections.abc import Mapping

from clawmem.app.services.retrieval.request import MAX_LIMIT, RetrievalRequest, Unit
from clawmem.app.services.retrieval.work import Candidate, Trace, Work
from clawmem.domain.retrieval import grains
from clawmem.domain.retrieval.grains import LINE_WEIGHTS, VECTOR
from clawmem.ports.records import FragmentKey, FragmentKind


def fuse(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
    """Fuse hits by the sum of scaled scores, and keep the best ``candidate_limit`` candidates."""
    if request.unit is Unit.DOCUMENT:
        candidates = fused_documents(request, work, grains.document_weights(work.space, work.legs))
    elif work.legs.get(grains.LINE):
        candidates = fused_lines(request, work)
    else:  # no lexical match, but vectors may find a passage
        return nearest(request, work, trace)
    return work.with_candidates(candidates[: request.candidate_limit or MAX_LIMIT])


def nearest(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
    """Make candidates from vector hits; relevance is the cosine of the best fragment."""
    best: dict[FragmentKey | int, Candidate] = {}
    is_line = request.unit is Unit.LINE
    spans = work.texts.spans(hit.key for hit in work.legs.get(VECTOR, ())) if is_line else {}
    for hit in work.legs.get(VECTOR, ()):
        span = spans.get(hit.key)
        if is_line and (span is None or span.kind in (FragmentKind.DOCUMENT, FragmentKind.SECTION)):
            continue
        relevance = max(0.0, hit.score)
        candidate = Candidate(
            hit.key.document_id, hit.key, relevance, relevance, {VECTOR: hit.score}, span=span
        )
        best.setdefault(hit.key if is_line else hit.key.document_id, candidate)
    return work.with_candidates(best.values())


def fused_lines(request: RetrievalRequest, work: Work) -> list[Candidate]:
    """Return the lines that the retrievers found, best first."""
    weights = grains.with_variants(LINE_WEIGHTS, work.legs)
    wider = (
        hit.key
        for name, hits in work.legs.items()
        if grains.retriever_of(name) in (grains.PASSAGE, grains.PRECISE, VECTOR)
        for hit in hits
    )
    lines = (hit.key for hit in work.legs.get(grains.LINE, ()))
    spans = work.texts.spans({*grains.neighbours(lines), *wider})
    return [
        Candidate(f.best.document_id, f.best, f.relevance, f.relevance, f.parts, span=spans[f.best])
        for f in grains.fuse_lines(work.legs, spans, weights, request.question.speakers)
    ]


def fused_documents(request: RetrievalRequest, work: Work, weights: Mapping[str, float]) -> list[Candidate]:
    """Return the documents that the retrievers found, best first."""
    lines = work.legs.get(grains.LINE, ()) if request.question.speakers else ()
    spans = work.texts.spans(hit.key for hit in lines)
    labels = {key: span.label for key, span in spans.items() if span.kind is FragmentKind.LINE}
    near = work.texts.documents(hit.key.document_id for hit in work.legs.get(VECTOR, ()))
    lengths = {number: document.body_length for number, document in near.items()}
    fused = grains.fuse_documents(work.legs, labels, weights, request.question.speakers, lengths)
    return [Candidate(f.best.document_id, f.best, f.relevance, f.relevance, f.parts) for f in fused]
