"""The lexical, vector and temporal retrievers: each searches one index for candidates."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING

from clawmem.app.services.retrieval.request import RetrievalRequest, Unit
from clawmem.app.services.retrieval.scheduling import Retriever, RetrieverResult, Search, answered
from clawmem.app.services.retrieval.work import Work
from clawmem.domain.retrieval.grains import DOCUMENT_WEIGHTS, LINE_WEIGHTS, PRECISE, TIME, VECTOR
from clawmem.domain.text.dates import TimeRange
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import ClawmemError, EmbeddingError, ModelMismatch
from clawmem.ports.indexes import EmbeddingStore, LexicalIndex, VectorSearch
from clawmem.ports.models import Embedder
from clawmem.ports.records import FragmentKey, Grain, Hit, LexicalQuery, Scope

if TYPE_CHECKING:
    from clawmem.app.services.retrieval.answer import Answer

# Deep enough that the first results do not depend on the limit.
LEXICAL_DEPTH = {Grain.LINE: 200, Grain.PASSAGE: 100, Grain.DOCUMENT: 100}
# A log or a table may match in hundreds of lines. More than this many of one note crowd out the lines of the others.
MOST_LINES = 40
CROWDED_DEPTH = 2000

VECTOR_DEPTH = 100
VECTOR_ALONE_DEPTH = 600  # fragments; a document may have several, and no other retriever adds documents
TEMPORAL_DEPTH = 200  # latest documents of the named time
NO_VECTORS = "the vault holds no vectors yet. Run: clawmem embed"
BY_WORDS = frozenset({"search", "keyword", "timeline"})  # modes that need no vectors


def lexical_retriever(lexical: LexicalIndex) -> Retriever:
    """Return a retriever for any word at every weighted granularity, and for all words if the question is a name."""

    def search(request: RetrievalRequest, work: Work) -> RetrieverResult:
        def at(query: LexicalQuery, grain: Grain) -> Search:
            if grain is Grain.LINE and request.unit is Unit.DOCUMENT:
                return lambda: _lines_of_many(lexical, query, request.scope)
            return lambda: lexical.search(query, grain, LEXICAL_DEPTH[grain], request.scope)

        weights = DOCUMENT_WEIGHTS if request.unit is Unit.DOCUMENT else LINE_WEIGHTS
        searches = {
            grain.value: at(request.question.forms.relaxed, grain)
            for grain in Grain
            if grain.value in weights
        }
        if request.question.forms.precise:
            grain = Grain.DOCUMENT if request.unit is Unit.DOCUMENT else Grain.LINE
            searches[PRECISE] = at(request.question.forms.precise, grain)
        return answered(searches)

    return search


def _lines_of_many(lexical: LexicalIndex, query: LexicalQuery, scope: Scope) -> list[Hit]:
    """Return the best lines, at most `MOST_LINES` of each document."""
    depth = LEXICAL_DEPTH[Grain.LINE]
    hits = lexical.search(query, Grain.LINE, depth, scope)
    counts = Counter(hit.key.document_id for hit in hits)
    if max(counts.values(), default=0) <= MOST_LINES:
        return hits
    places: Counter[int] = Counter()
    lines = []
    for hit in lexical.search(query, Grain.LINE, CROWDED_DEPTH, scope):
        places[hit.key.document_id] += 1
        if places[hit.key.document_id] <= MOST_LINES:
            lines.append(hit)
    return lines[:depth]


def vector_retriever(
    vectors: VectorSearch, embeddings: EmbeddingStore, embedder: Embedder, depth: int = VECTOR_DEPTH
) -> Retriever:
    """
    Return a retriever for the fragments nearest to the question.

    It raises `ModelMismatch` rather than compare two embedding spaces. If another model's vectors take over during a
    search, it discards the hits and searches once more.
    """

    def search(request: RetrievalRequest, work: Work) -> RetrieverResult:
        if not request.question.forms.words:
            return RetrieverResult({})  # punctuation has a vector too, but a meaningless one
        stored = embeddings.fingerprint()
        try:
            answer = within(stored, request)
        except ClawmemError:
            if embeddings.fingerprint() == stored:
                raise
        else:
            if embeddings.fingerprint() == stored:
                return answer
        return within(embeddings.fingerprint(), request)

    def within(stored: str | None, request: RetrievalRequest) -> RetrieverResult:
        if stored is None:
            return RetrieverResult({})
        if stored != embedder.fingerprint:
            raise ModelMismatch(stored, embedder.fingerprint)
        vector = embedder.embed_query(request.question.text)
        found = answered({VECTOR: lambda: vectors.search(vector, depth, request.scope)})
        missing, note = "", ""
        if count := embeddings.documents_without():
            missing = f"some texts have no vectors and may be missed (documents: {count}). Run: clawmem embed"
        if building := embeddings.building():
            note = f"the vectors are of {stored!r}; those of {building.fingerprint!r} are {building.share:.0%} made"
        degraded = "; ".join(filter(None, (found.degraded, missing)))
        return found._replace(degraded=degraded, note=note, space=stored)

    return search


def temporal_retriever(documents: DocumentStore) -> Retriever:
    """
    Return a retriever for the documents of the time that the question names, each with score 1.0.

    The time contributes to the score and does not filter: a document may be about a time in which it was not written.
    """

    def search(request: RetrievalRequest, work: Work) -> RetrieverResult:
        named = request.question.named_time
        if named is None:
            return RetrieverResult({})
        written = documents.latest(scope_within(request.scope, named), limit=TEMPORAL_DEPTH)
        hits = [Hit(FragmentKey(document.id, 0), 1.0) for document in written]
        first, end = (
            datetime.fromisoformat(moment).astimezone(request.question.zone).date().isoformat()
            if moment
            else ""
            for moment in (named.authored_from, named.authored_until)
        )
        return RetrieverResult({TIME: hits}, note=f"the time it names: {first} up to {end}")

    return search


def scope_within(scope: Scope, named: TimeRange) -> Scope:
    """Return *scope*, narrowed to the time that the question names."""
    starts = [moment for moment in (scope.authored_from, named.recorded_from) if moment]
    ends = [moment for moment in (scope.authored_until, named.authored_until) if moment]
    return scope._replace(authored_from=max(starts, default=None), authored_until=min(ends, default=None))


def in_named_time(leg: Retriever) -> Retriever:
    """
    Return *leg* restricted to documents written in the time that the question names, unrestricted if it finds none.

    A document may be about a time in which it was not written, so finding none there is no answer.
    """

    def search(request: RetrievalRequest, work: Work) -> RetrieverResult:
        named = request.question.named_time
        if named is None:
            return leg(request, work)
        answer = leg(request._replace(scope=scope_within(request.scope, named)), work)
        return answer if any(answer.hits.values()) else leg(request, work)

    return search


def require_vectors(embeddings: EmbeddingStore, what: str) -> None:
    """Raise `EmbeddingError` if the vault has no vectors; *what* (found, compared) completes the message."""
    if embeddings.fingerprint() is None:
        raise EmbeddingError(f"Nothing can be {what} by meaning: {NO_VECTORS}")


def report_missing_vectors(embeddings: EmbeddingStore, verb: str, answer: Answer) -> None:
    """Report missing vectors in the trace of *answer*, unless *verb* needs none."""
    if (answer.mode or verb) in BY_WORDS or answer.trace.hits.get("vector"):
        return
    if embeddings.fingerprint() is None:
        answer.trace.degraded["vector"] = NO_VECTORS
