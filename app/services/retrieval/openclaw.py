"""Hybrid search of OpenClaw's own memory: two retrievers of passages, and their weighted sum."""

from __future__ import annotations

from functools import partial

from clawmem.app.services.retrieval.pipeline import Pipeline
from clawmem.app.services.retrieval.request import RetrievalRequest, Unit
from clawmem.app.services.retrieval.retrievers import local_retrievers, vector_retriever
from clawmem.app.services.retrieval.scheduling import RetrieverResult, RunRetrievers, answered
from clawmem.app.services.retrieval.work import Candidate, RetrievalStores, Trace, Work
from clawmem.domain.openclaw.ranking import CANDIDATES_PER_RESULT, ranked
from clawmem.domain.retrieval.grains import PASSAGE, VECTOR
from clawmem.domain.retrieval.query_forms import MAX_TERMS
from clawmem.domain.text.words import words
from clawmem.ports.models import Embedder
from clawmem.ports.records import FragmentKey, FragmentKind, Grain, LexicalQuery, Term


def openclaw(stores: RetrievalStores, embedder: Embedder) -> Pipeline:
    """Return a pipeline that ranks passages as OpenClaw does: by cosine, and by the rank among those with every word."""

    def with_every_word(request: RetrievalRequest, work: Work) -> RetrieverResult:
        every = dict.fromkeys(words(request.question.text))  # function words included
        query = LexicalQuery(tuple(Term(word) for word in every)[:MAX_TERMS], every=True)
        depth = CANDIDATES_PER_RESULT * request.limit
        return answered({PASSAGE: partial(stores.lexical.search, query, Grain.PASSAGE, depth, request.scope)})

    def nearest_passages(request: RetrievalRequest, work: Work) -> RetrieverResult:
        depth = CANDIDATES_PER_RESULT * request.limit
        return vector_retriever(stores.vectors, stores.embeddings, embedder, depth)(request, work)

    legs = {"passage": with_every_word, "vector": nearest_passages}
    at_hand = partial(local_retrievers, stores.lexical, stores.vectors, embedder)
    return Pipeline(stores, {"search": RunRetrievers(legs, at_hand=at_hand), "merge": merge_passages})


def merge_passages(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
    """Make candidates from passages by `ranked`; of documents, each has its best passage."""
    spans = work.texts.spans(hit.key for hits in work.legs.values() for hit in hits)
    passages = {key for key, span in spans.items() if span.kind is FragmentKind.PASSAGE}
    cosines = {hit.key: hit.score for hit in work.legs.get(VECTOR, ()) if hit.key in passages}
    by_keyword = [hit.key for hit in work.legs.get(PASSAGE, ()) if hit.key in passages]
    is_line = request.unit is Unit.LINE
    most = request.limit * (1 if is_line else CANDIDATES_PER_RESULT)
    merged = ranked(cosines, by_keyword, most=most, least=request.min_score)
    documents = work.texts.documents(passage.key.document_id for passage in merged)
    served: dict[FragmentKey | int, Candidate] = {}  # of active documents, as `spans` has no others
    for passage in merged:
        number = passage.key.document_id
        if document := documents.get(number):
            parts = {VECTOR: passage.vector_score, PASSAGE: passage.text_score}
            legs = {name: score for name, score in parts.items() if score is not None}
            candidate = Candidate(
                number,
                passage.key,
                passage.score,
                passage.score,
                legs,
                document=document,
                span=spans[passage.key] if is_line else None,
            )
            served.setdefault(passage.key if is_line else number, candidate)
    candidates = list(served.values())
    trace.drop(candidates[request.limit :], "beyond the limit")
    return work.with_candidates(candidates[: request.limit])
