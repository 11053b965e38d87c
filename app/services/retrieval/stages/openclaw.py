"""Hybrid search of OpenClaw's own memory: two retrievers of passages, and their weighted sum."""

from __future__ import annotations

from clawmem.app.services.retrieval.request import RetrievalRequest, Unit
from clawmem.app.services.retrieval.retrievers import VECTOR, vector_retriever
from clawmem.app.services.retrieval.scheduling import Retriever, RetrieverResult, answered
from clawmem.app.services.retrieval.work import Candidate, Stage, Trace, Work
from clawmem.domain.openclaw.ranking import CANDIDATES_PER_RESULT, Ranked, ranked
from clawmem.domain.retrieval.grains import PASSAGE
from clawmem.domain.retrieval.query_forms import MAX_TERMS
from clawmem.domain.text.words import words
from clawmem.ports.documents import DocumentStore
from clawmem.ports.indexes import EmbeddingStore, LexicalIndex, VectorSearch
from clawmem.ports.models import Embedder
from clawmem.ports.records import FragmentKey, FragmentKind, Grain, Hit, LexicalQuery, Span, Term


def every_word_retriever(lexical: LexicalIndex) -> Retriever:
    """Return a retriever for the passages that contain every word of the question, function words included."""

    def search(request: RetrievalRequest, work: Work) -> RetrieverResult:
        every = dict.fromkeys(words(request.question.text))
        query = LexicalQuery(tuple(Term(word) for word in every)[:MAX_TERMS], every=True)
        depth = CANDIDATES_PER_RESULT * request.limit
        return answered({PASSAGE: lambda: lexical.search(query, Grain.PASSAGE, depth, request.scope)})

    return search


def nearest_passages_retriever(
    vectors: VectorSearch, embeddings: EmbeddingStore, embedder: Embedder
) -> Retriever:
    """Return a retriever for the fragments nearest to the question, four for each result."""

    def search(request: RetrievalRequest, work: Work) -> RetrieverResult:
        return vector_retriever(vectors, embeddings, embedder, CANDIDATES_PER_RESULT * request.limit)(
            request, work
        )

    return search


def merge_passages(store: DocumentStore) -> Stage:
    """Return a stage that makes candidates from passages by `ranked`; of documents, each has its best passage."""

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        spans = store.spans(hit.key for hits in work.legs.values() for hit in hits)
        cosines = {hit.key: hit.score for hit in _passages(work, VECTOR, spans)}
        by_keyword = [hit.key for hit in _passages(work, PASSAGE, spans)]
        is_line = request.unit is Unit.LINE
        most = request.limit * (1 if is_line else CANDIDATES_PER_RESULT)
        merged = ranked(cosines, by_keyword, most=most, least=request.min_score)
        documents = store.many({one.key.document_id for one in merged})
        served = [  # of active documents, as `spans` has no others
            _candidate(one)._replace(document=document, span=spans[one.key] if is_line else None)
            for one in merged
            if (document := documents.get(one.key.document_id))
        ]
        if not is_line:
            best: dict[int, Candidate] = {}
            for one in served:
                best.setdefault(one.document_id, one)
            served = list(best.values())
        trace.drop(served[request.limit :], "beyond the limit")
        return work.with_candidates(served[: request.limit])

    return stage


def _passages(work: Work, leg: str, spans: dict[FragmentKey, Span]) -> list[Hit]:
    found = work.legs.get(leg, ())
    return [hit for hit in found if hit.key in spans and spans[hit.key].kind is FragmentKind.PASSAGE]


def _candidate(one: Ranked[FragmentKey]) -> Candidate:
    parts = {VECTOR: one.vector_score, PASSAGE: one.text_score}
    legs = {name: score for name, score in parts.items() if score is not None}
    return Candidate(one.key.document_id, one.key, one.score, one.score, legs)
