"""Blending of index relevance and reranker scores."""

from __future__ import annotations

from clawmem.app.services.retrieval.request import Ranking, RetrievalRequest
from clawmem.app.services.retrieval.stages.rerank import RERANKER
from clawmem.app.services.retrieval.trace import Trace
from clawmem.app.services.retrieval.work import Work
from clawmem.domain.retrieval import blending


def blend(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
    """
    Order candidates by relevance and reranker score together; unchanged if nothing was reranked.

    The requested ranking decides how; with the default, the reranker can produce any order.
    """
    places = range(len(work.candidates))
    reranked = {n: work.candidates[n].legs[RERANKER] for n in places if RERANKER in work.candidates[n].legs}
    if not reranked:
        return work
    if request.ranking is Ranking.PUBLISHED:
        relevance = blending.published_blend(places, reranked)
    else:
        relevance = blending.blend({n: work.candidates[n].relevance for n in places}, reranked)
    ordered = sorted(places, key=lambda n: (-relevance[n], n))
    return work.with_candidates(
        [work.candidates[n]._replace(relevance=relevance[n], score=relevance[n]) for n in ordered]
    )
