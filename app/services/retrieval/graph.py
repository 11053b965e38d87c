"""Search by intent: classification of the question, fusion with the weights of its intent, and the graph of relations."""

import math
from array import array
from collections.abc import Mapping
from functools import cache, partial
from operator import mul

from clawmem.app.services.retrieval.compare import fused_documents
from clawmem.app.services.retrieval.models import AnswerCache
from clawmem.app.services.retrieval.request import MAX_LIMIT, RetrievalRequest, Unit
from clawmem.app.services.retrieval.work import Candidate, RetrievalStores, Trace, Work
from clawmem.domain.graph import traversal
from clawmem.domain.retrieval.grains import VECTOR, document_weights
from clawmem.domain.retrieval.intent import DECIDED, GRAPH_INTENTS, Classification, Intent, weights_for_intent
from clawmem.domain.text.words import words
from clawmem.ports.errors import ClawmemError
from clawmem.ports.knowledge import RelationStore
from clawmem.ports.models import Embedder, Generator, ModelAnswers
from clawmem.ports.records import FragmentKey, Scope

DEADLINE_S = 2.0  # after it the intent is WHAT, which is right for most questions with ambiguous words
BY_MODEL = 0.85  # confidence

PROMPT = """\
What does this question about somebody's notes ask for? Answer with one word.
WHY: a reason, a cause, a decision. WHEN: a time or an order of events. ENTITY: a person, a project or a thing \
and what it has to do with others. WHAT: anything else.

Question: {query}
Answer:"""

ANCHORS = 10
COMPANIONS = 15
GRAPH = "graph"


def classify(
    answers: ModelAnswers,
    forced: Intent | None,
    generator: Generator | None,
    request: RetrievalRequest,
    work: Work,
    trace: Trace,
) -> Work:
    """
    Set `Work.intent`; a *forced* intent is certain. The *generator* classifies questions whose words are ambiguous.

    *answers* keeps its results. If it fails, the classification by words stands.
    """
    cache = AnswerCache(answers, "intent")
    intent = Classification(forced, 1.0) if forced else request.question.intent
    if intent.confidence < DECIDED and generator is not None:
        prompt = PROMPT.format(query=request.question.text)
        try:
            model = generator.fingerprint
            cached = cache.get(model, prompt)
            answer = cached or generator.generate(prompt, timeout_s=DEADLINE_S, max_tokens=10)
            if named := [word.upper() for word in words(answer) if word.upper() in Intent.__members__]:
                intent = Classification(Intent(named[0]), BY_MODEL)
                if not cached:
                    cache.keep(model, {prompt: named[0]}, request.question.now_ms)
        except ClawmemError as error:
            trace.degraded["intent"] = str(error)
    trace.note(f"{intent.intent} at {intent.confidence:.2f}")
    return work._replace(intent=intent)


def fuse_by_intent(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
    """Fuse hits as ``query`` does, with the weights from `weights_for_intent`."""
    intent = work.intent.intent if work.intent else Intent.WHAT
    weights = weights_for_intent(document_weights(work.space), intent, VECTOR)
    return work.with_candidates(fused_documents(request, work, weights))


def visible_edges(relations: RelationStore, scope: Scope, limit: int = 10) -> traversal.Edges:
    """Return the heaviest relations within *scope*, at most *limit* for a document, kind and direction."""
    read = (relations.outbound, relations.inbound)
    return traversal.Edges(*(partial(edges, limit=limit, scope=scope) for edges in read))


def follow_relations(
    stores: RetrievalStores,
    embedder: Embedder,
    request: RetrievalRequest,
    work: Work,
    trace: Trace,
    *,
    anchors: int = ANCHORS,
    bounds: traversal.Bounds = traversal.SEARCH_BOUNDS,
) -> Work:
    """
    Raise and add documents related to the best candidates, by two traversals, for questions of `GRAPH_INTENTS`.

    ENTITY also adds documents about entities that occur together with theirs. None is reached outside the scope.
    """
    intent = work.intent.intent if work.intent else Intent.WHAT
    seeds = {c.document_id: c.relevance for c in work.candidates[:anchors]}
    if intent not in GRAPH_INTENTS or not seeds or request.unit is not Unit.DOCUMENT:
        return work
    vector = array("f")  # stays empty if it is not comparable with the stored ones
    try:
        if stores.embeddings.fingerprint() == embedder.fingerprint:
            vector.frombytes(embedder.embed_query(request.question.text))
    except ClawmemError as error:
        trace.degraded.setdefault("vector", str(error))

    @cache
    def nearest(document_id: int) -> tuple[float, FragmentKey]:
        """Return the cosine and the key of the fragment that is nearest to the question, 0 without a vector."""
        entries = stores.embeddings.of_document(document_id) if vector else ()
        near = ((math.fsum(map(mul, vector, array("f", e.vector))), e.key) for e in entries)
        return max(near, key=lambda pair: (pair[0], -pair[1].seq), default=(0.0, FragmentKey(document_id, 0)))

    edges = visible_edges(stores.relations, request.scope)
    traversed = traversal.traverse(seeds, intent, edges, lambda number: nearest(number)[0], bounds)
    pushed = traversal.forward_push(seeds, intent, edges, 20)
    scores: Mapping[int, float] = {c.document_id: c.relevance for c in work.candidates}
    scores = traversal.merge(scores, traversal.scaled(traversed, intent), traversal.TRAVERSED)
    scores = traversal.merge(scores, traversal.shares_of_all(pushed, seeds), traversal.PUSHED)
    if intent is Intent.ENTITY:
        neighbours = stores.entities.neighbours(seeds, COMPANIONS, request.scope)
        companions = {n: traversal.cooccurrence_score(together) for n, together in neighbours.items()}
        scores = traversal.with_companions(scores, companions)
    known = {candidate.document_id: candidate for candidate in work.candidates}
    most = max(1.0, *scores.values())  # the maximum of relevance is 1
    candidates = []
    for number, score in scores.items():
        candidate = known.get(number) or Candidate(number, nearest(number)[1], -1.0, 0.0)
        legs = {GRAPH: score} if score > candidate.relevance else {}
        candidates.append(candidate.with_relevance(score / most, **legs))
    return work.with_candidates(work.ranked(candidates).candidates[:MAX_LIMIT])
