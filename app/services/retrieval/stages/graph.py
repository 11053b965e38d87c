"""Graph expansion: documents related to the best candidates, by the relations that fit the intent."""

from __future__ import annotations

import math
from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import mul

from clawmem.app.services.retrieval.request import MAX_LIMIT, RetrievalRequest, Unit
from clawmem.app.services.retrieval.stages.intent import intent_of
from clawmem.app.services.retrieval.work import Candidate, Stage, Trace, Work
from clawmem.domain.graph.merging import PUSHED, TRAVERSED, cooccurrence_score, merge, with_companions
from clawmem.domain.graph.meta_paths import forward_push, shares_of_all
from clawmem.domain.graph.traversal import SEARCH_BOUNDS, Bounds, scaled, traverse
from clawmem.domain.retrieval.intent import GRAPH_INTENTS, Intent
from clawmem.ports.errors import ClawmemError
from clawmem.ports.indexes import EmbeddingStore
from clawmem.ports.knowledge import EntityStore, Relation, RelationKind, RelationStore
from clawmem.ports.models import Embedder
from clawmem.ports.records import FragmentKey, Scope, Vector

ANCHORS = 10
PUSH_BUDGET = 20
COMPANIONS = 15
EDGES = 10  # heaviest edges per document, kind and direction; as many as a push may use
GRAPH = "graph"


class CachedQueryEmbedder:
    """``Embedder`` that caches its last query vector, so that a server is not asked twice for it."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._last: tuple[str, Vector] | None = None

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the wrapped embedder."""
        return self._embedder.fingerprint

    @property
    def dimensions(self) -> int:
        """The dimensions of the wrapped embedder."""
        return self._embedder.dimensions

    def embed_query(self, text: str) -> Vector:
        """Return the vector of *text*, cached if *text* is the last query."""
        last = self._last
        if last is None or last[0] != text:
            last = self._last = (text, self._embedder.embed_query(text))
        return last[1]

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Return the vectors of the wrapped embedder."""
        return self._embedder.embed_documents(texts)


class QuestionSimilarity:
    """
    The fragment of each document nearest to one question, and its cosine.

    Without a *question* vector, every document has cosine 0 at its first fragment.
    """

    def __init__(self, embeddings: EmbeddingStore, question: Vector | None) -> None:
        self._embeddings = embeddings
        self._question = array("f", question or b"")
        self._known: dict[int, tuple[float, FragmentKey]] = {}

    def cosine(self, document_id: int) -> float:
        """Return the cosine in [-1, 1]; 0 for a document without vectors."""
        return self._nearest(document_id)[0]

    def fragment(self, document_id: int) -> FragmentKey:
        """Return the nearest fragment, or the first one of a document without vectors."""
        return self._nearest(document_id)[1]

    def _nearest(self, document_id: int) -> tuple[float, FragmentKey]:
        if document_id not in self._known:
            self._known[document_id] = self._looked_up(document_id)
        return self._known[document_id]

    def _looked_up(self, document_id: int) -> tuple[float, FragmentKey]:
        entries = self._embeddings.of_document(document_id) if self._question else ()
        near = ((self._product(entry.vector), entry.key) for entry in entries)
        return max(near, key=lambda one: (one[0], -one[1].seq), default=(0.0, FragmentKey(document_id, 0)))

    def _product(self, vector: Vector) -> float:
        return math.fsum(map(mul, self._question, array("f", vector)))


@dataclass(frozen=True, slots=True)
class SeenEdges:
    """``Edges`` of the vault within the scope of a request."""

    relations: RelationStore
    scope: Scope

    def outbound(self, nodes: Collection[int], kinds: Collection[RelationKind]) -> Sequence[Relation]:
        """Return the heaviest edges that start at each node."""
        return self.relations.outbound(nodes, kinds, limit=EDGES, scope=self.scope)

    def inbound(self, nodes: Collection[int], kinds: Collection[RelationKind]) -> Sequence[Relation]:
        """Return the heaviest edges that end at each node."""
        return self.relations.inbound(nodes, kinds, limit=EDGES, scope=self.scope)


def graph(
    embeddings: EmbeddingStore,
    relations: RelationStore,
    entities: EntityStore,
    embedder: Embedder,
    *,
    anchors: int = ANCHORS,
    bounds: Bounds = SEARCH_BOUNDS,
    intents: Collection[Intent] = GRAPH_INTENTS,
) -> Stage:
    """
    Return a stage for questions of *intents* that raises and adds documents related to the best candidates.

    It runs two traversals from the same anchors (`traverse`, `forward_push`); for ENTITY also documents about
    entities that occur together with those of the anchors. `merge` combines the scores. Documents outside the
    request's scope are neither reached nor passed through.
    """

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        intent = intent_of(work)
        seeds = {c.document_id: c.relevance for c in work.candidates[:anchors]}
        if intent not in intents or not seeds or request.unit is not Unit.DOCUMENT:
            return work
        nearness = QuestionSimilarity(embeddings, _question(embeddings, embedder, request, trace))
        edges = SeenEdges(relations, request.scope)
        walked = traverse(seeds, intent, edges, nearness.cosine, bounds)
        pushed = forward_push(seeds, intent, edges, PUSH_BUDGET)
        scores = {c.document_id: c.relevance for c in work.candidates}
        scores = merge(scores, scaled(walked, intent), TRAVERSED)
        scores = merge(scores, shares_of_all(pushed, seeds), PUSHED)
        if intent is Intent.ENTITY:
            scores = with_companions(scores, _companions(entities, seeds, request.scope))
        return work.with_candidates(_ranked(work.candidates, scores, nearness)[:MAX_LIMIT])

    return stage


def _question(
    embeddings: EmbeddingStore, embedder: Embedder, request: RetrievalRequest, trace: Trace
) -> Vector | None:
    """Return the question's vector if it is comparable with the stored ones; the graph is traversed without it, too."""
    try:
        stored = embeddings.fingerprint()
        return embedder.embed_query(request.question.text) if stored == embedder.fingerprint else None
    except ClawmemError as error:
        trace.degraded.setdefault("vector", str(error))
        return None


def _companions(entities: EntityStore, seeds: Collection[int], scope: Scope) -> dict[int, float]:
    neighbours = entities.neighbours(seeds, COMPANIONS, scope)
    return {document_id: cooccurrence_score(together) for document_id, together in neighbours.items()}


def _ranked(
    candidates: Iterable[Candidate], scores: Mapping[int, float], nearness: QuestionSimilarity
) -> list[Candidate]:
    known = {candidate.document_id: candidate for candidate in candidates}
    # Scores above 1 would exceed the range of relevance, so all are scaled by the highest.
    most = max(1.0, *scores.values())
    made = [
        _related(known.get(document_id), document_id, score, score / most, nearness)
        for document_id, score in scores.items()
    ]
    return sorted(made, key=lambda c: (-c.relevance, c.best))


def _related(
    candidate: Candidate | None, document_id: int, said: float, relevance: float, nearness: QuestionSimilarity
) -> Candidate:
    if candidate is None:
        best = nearness.fragment(document_id)
        return Candidate(document_id, best, relevance, relevance, {GRAPH: said})
    legs = {**candidate.legs, GRAPH: said} if said > candidate.relevance else candidate.legs
    return candidate._replace(relevance=relevance, score=relevance, legs=legs)
