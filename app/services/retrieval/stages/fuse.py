"""Fusion of the hits of all retrievers into one list of candidates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from clawmem.app.services.retrieval.request import MAX_LIMIT, RetrievalRequest, Unit
from clawmem.app.services.retrieval.retrievers import PRECISE, VECTOR
from clawmem.app.services.retrieval.work import Candidate, Stage, Trace, Work
from clawmem.domain.retrieval import grains
from clawmem.ports.documents import DocumentStore
from clawmem.ports.records import FragmentKey, FragmentKind, Hit

WIDER = (grains.PASSAGE, grains.VECTOR)

PRECISE_SHARE = 0.57  # lifts precise matches above all others by more than metadata can change a score


def lines_located(store: DocumentStore, work: Work) -> Work:
    """Return *work* with the spans of its line hits, of adjacent lines, and of wider hits in the same documents."""
    lines = work.legs.get(grains.LINE, ())
    documents = {hit.key.document_id for hit in lines}
    wider = (
        hit.key for name, hits in work.legs.items() if grains.retriever_of(name) in WIDER for hit in hits
    )
    return located(
        store, work, {*grains.neighbours(lines), *(key for key in wider if key.document_id in documents)}
    )


def located(documents: DocumentStore, work: Work, keys: Iterable[FragmentKey]) -> Work:
    """Return *work* with the spans of *keys*; fragments that no longer exist are left out."""
    missing = [key for key in keys if key not in work.spans]
    return work._replace(spans={**work.spans, **documents.spans(missing)}) if missing else work


def nearest(documents: DocumentStore) -> Stage:
    """Return a stage that makes candidates from vector hits; relevance is the cosine of the best fragment."""

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        hits = list(work.legs.get(VECTOR, ()))
        if request.unit is Unit.LINE:
            spans = documents.spans(hit.key for hit in hits)
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


def fuse(documents: DocumentStore) -> Stage:
    """Return a stage that fuses hits by the sum of scaled scores, and keeps the best ``candidate_limit`` candidates."""

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        work = _fused(documents, request, work, trace)
        return work.with_candidates(work.candidates[: request.candidate_limit or MAX_LIMIT])

    return stage


def _fused(documents: DocumentStore, request: RetrievalRequest, work: Work, trace: Trace) -> Work:
    if request.unit is Unit.DOCUMENT:
        weights = grains.with_variants(grains.DOCUMENT_WEIGHTS, work.legs)
        return work.with_candidates(fused_documents(documents, request, work, weights))
    if not work.legs.get(grains.LINE):  # no lexical match, but vectors may find a passage
        return nearest(documents)(request, work, trace)
    work = lines_located(documents, work)
    return work.with_candidates(fused_lines(request, work))


def fused_lines(request: RetrievalRequest, work: Work) -> list[Candidate]:
    """Return the lines that the retrievers found, best first; ``work.spans`` must contain their spans."""
    weights = grains.with_variants(grains.LINE_WEIGHTS, work.legs)
    return [
        Candidate(f.best.document_id, f.best, f.relevance, f.relevance, f.parts, span=work.spans[f.best])
        for f in grains.fuse_lines(work.legs, work.spans, weights, request.question.speakers)
    ]


def fused_documents(
    documents: DocumentStore, request: RetrievalRequest, work: Work, weights: Mapping[str, float]
) -> list[Candidate]:
    """Return the documents that the retrievers found, best first."""
    lines = work.legs.get(grains.LINE, ()) if request.question.speakers else ()
    spans = documents.spans(hit.key for hit in lines)
    labels = {key: span.label for key, span in spans.items() if span.kind is FragmentKind.LINE}
    near = documents.many({hit.key.document_id for hit in work.legs.get(VECTOR, ())})
    lengths = {number: one.body_length for number, one in near.items()}
    fused = grains.fuse_documents(work.legs, labels, weights, request.question.speakers, lengths)
    return [Candidate(number, one.best, one.relevance, one.relevance, one.parts) for number, one in fused]


def precise_first(documents: DocumentStore) -> Stage:
    """Return a stage that, if the question is a name, puts precise matches above others, each group in its order."""

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        if request.question.forms.precise is None:
            return work
        ranked = _lifted(documents, work.candidates, request, work)
        trace.drop(ranked[MAX_LIMIT:], "beyond the maximum limit")
        return work.with_candidates(ranked[:MAX_LIMIT])

    return stage


def _lifted(
    documents: DocumentStore, candidates: Sequence[Candidate], request: RetrievalRequest, work: Work
) -> list[Candidate]:
    matches = {_identity(hit.key, request.unit): hit.key for hit in work.legs.get(PRECISE, ())}
    seen = {_identity(c.best, request.unit) for c in candidates}
    missed = [key for identity, key in matches.items() if identity not in seen]
    every = [*candidates, *_as_the_last(documents, candidates, request.unit, missed)]
    lifted = [_lift(c, _identity(c.best, request.unit) in matches) for c in every]
    return sorted(lifted, key=lambda c: (-c.relevance, c.best))


def _as_the_last(
    documents: DocumentStore, candidates: Sequence[Candidate], unit: Unit, keys: Sequence[FragmentKey]
) -> list[Candidate]:
    """Return candidates for matches beyond the depth of the retrievers, with the relevance of the last candidate."""
    least = candidates[-1].relevance if candidates else 0.0
    spans = documents.spans(keys) if keys else {}
    return [
        Candidate(key.document_id, key, least, least, span=spans[key] if unit is Unit.LINE else None)
        for key in keys
        if key in spans
    ]


def _identity(key: FragmentKey, unit: Unit) -> FragmentKey | int:
    return key.document_id if unit is Unit.DOCUMENT else key


def _lift(candidate: Candidate, precise: bool) -> Candidate:
    relevance = PRECISE_SHARE * precise + (1 - PRECISE_SHARE) * candidate.relevance
    legs = {**candidate.legs, PRECISE: float(precise)}
    return candidate._replace(relevance=relevance, score=relevance, legs=legs)
