"""Fusion of the hits of all retrievers into one list of candidates."""

from __future__ import annotations

from clawmem.app.services.retrieval.located import lines_located
from clawmem.app.services.retrieval.request import MAX_LIMIT, RetrievalRequest, Unit
from clawmem.app.services.retrieval.stages.nearest import nearest
from clawmem.app.services.retrieval.trace import Trace
from clawmem.app.services.retrieval.work import Candidate, Stage, Work
from clawmem.domain.documents.tokens import words
from clawmem.domain.retrieval import grains
from clawmem.ports.vault import Vault


def fuse(vault: Vault) -> Stage:
    """Return a stage that fuses hits by the sum of scaled scores, and keeps the best ``candidate_limit`` candidates."""

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        work = _fused(vault, request, work, trace)
        return work.with_candidates(work.candidates[: request.candidate_limit or MAX_LIMIT])

    return stage


def _fused(vault: Vault, request: RetrievalRequest, work: Work, trace: Trace) -> Work:
    if request.unit is Unit.DOCUMENT:
        return work.with_candidates(_documents(vault, request, work))
    if not work.legs.get(grains.LINE):  # no lexical match, but vectors may find a passage
        return nearest(vault)(request, work, trace)
    work = lines_located(vault, work)
    return work.with_candidates(fused_lines(request, work))


def fused_lines(request: RetrievalRequest, work: Work) -> list[Candidate]:
    """Return the lines that the retrievers found, best first; ``work.spans`` must contain their spans."""
    weights = grains.with_variants(grains.LINE_WEIGHTS, work.legs)
    speakers = grains.named_speakers(words(request.query))
    return [
        Candidate(f.best.document_id, f.best, f.relevance, f.relevance, f.parts, span=work.spans[f.best])
        for f in grains.fuse_lines(work.legs, work.spans, weights, speakers)
    ]


def _documents(vault: Vault, request: RetrievalRequest, work: Work) -> list[Candidate]:
    labels = vault.documents.labels(hit.key for hit in work.legs.get(grains.LINE, ()))
    weights = grains.with_variants(grains.DOCUMENT_WEIGHTS, work.legs)
    speakers = grains.named_speakers(words(request.query))
    fused = grains.fuse_documents(work.legs, labels, weights, speakers)
    return [Candidate(number, one.best, one.relevance, one.relevance, one.parts) for number, one in fused]
