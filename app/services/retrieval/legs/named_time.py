"""A retriever restricted to the time that the question names."""

from __future__ import annotations

from clawmem.app.services.retrieval.legs.ask_all import Retriever, RetrieverResult
from clawmem.app.services.retrieval.legs.temporal import within
from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.work import Work
from clawmem.domain.retrieval.temporal import temporal_range


def in_named_time(leg: Retriever) -> Retriever:
    """
    Return *leg* restricted to documents written in the time that the question names, unrestricted if it finds none.

    A document may be about a time in which it was not written, so finding none there is no answer.
    """

    def search(request: RetrievalRequest, work: Work) -> RetrieverResult:
        named = temporal_range(request.query, now_ms=request.now_ms, zone=request.zone)
        if named is None:
            return leg(request, work)
        answer = leg(request._replace(scope=within(request.scope, named)), work)
        return answer if any(answer.hits.values()) else leg(request, work)

    return search
