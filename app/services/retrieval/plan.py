"""``memory_retrieve`` routes a question to its pipeline; ``query_plan`` splits it into clauses that are searched apart."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from time import perf_counter

from clawmem.app.services.documents.timeline import sessions_with_outcome_first
from clawmem.app.services.retrieval.answer import Answer
from clawmem.app.services.retrieval.compare import fuse, nearest
from clawmem.app.services.retrieval.confidence import above_floor, confidence
from clawmem.app.services.retrieval.graph import classify, follow_relations
from clawmem.app.services.retrieval.pipelines import Pipeline, nearest_vectors, retrieval
from clawmem.app.services.retrieval.request import LEAST_COSINE, RetrievalRequest, Unit, rewind_request
from clawmem.app.services.retrieval.retrieve import NamedThreads, RetrieverResult, run_retrievers
from clawmem.app.services.retrieval.score import cut, score
from clawmem.app.services.retrieval.supersede import supersede
from clawmem.app.services.retrieval.work import Candidate, RetrievalStores, Stage, Trace, Work
from clawmem.domain.graph.traversal import CLAUSE_BOUNDS
from clawmem.domain.knowledge.llm_answer import json_answer
from clawmem.domain.retrieval import planning
from clawmem.domain.retrieval.fusion import min_max, rrf
from clawmem.domain.retrieval.planning import Clause, ClauseKind, Route
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import ClawmemError
from clawmem.ports.models import Embedder, Generator
from clawmem.ports.records import FragmentKey, Hit
from clawmem.ports.sessions import SessionStore

DEADLINE_S = 5.0  # for all clauses together
DEPTH = {ClauseKind.LEXICAL: 20, ClauseKind.VECTOR: 20, ClauseKind.GRAPH: 15}  # results per clause
ANCHORS = 5  # documents from which the graph is traversed per clause
Ask = Callable[[RetrievalRequest], Answer]
SEARCH, VSEARCH, QUERY = "search", "vsearch", "query"
PIPELINES: Mapping[Route, str] = {
    Route.TIMELINE: QUERY,  # in addition to the latest sessions
    Route.CAUSAL: "intent_search",
    Route.DISCOVERY: VSEARCH,
    Route.COMPLEX: "query_plan",
    Route.KEYWORD: SEARCH,
    Route.SEMANTIC: VSEARCH,
    Route.HYBRID: QUERY,
}

# Words of the headings and lines of a handoff that name next steps.
NEXT_WORDS = ("next", "todo", "to do", "open", "remaining", "nächst", "offen", "pendiente")

# Returns clauses, and why the model's plan is missing, or "".
Planner = Callable[[str], tuple[tuple[Clause, ...], str]]


def planned(
    query: str, sessions: SessionStore, generator: Generator | None
) -> tuple[tuple[Clause, ...], str]:
    """Return the plan of a model for a complex question; without a usable answer of it, that of rules."""
    if generator is None or planning.is_simple(query):
        return planning.plan(query), ""
    ask = partial(
        generator.generate,
        max_tokens=planning.MAX_TOKENS,
        temperature=planning.TEMPERATURE,
        schema=planning.SCHEMA,
    )
    until = perf_counter() + 8.0  # including a second attempt
    try:
        latest = "".join(session.summary for session in sessions.recent(1))
        prompt = planning.decomposition_prompt(query, latest)
        # One wrong clause does not affect the others, and many models omit the wrapping object.
        answer = json_answer(
            lambda text: ask(text, timeout_s=until - perf_counter()), prompt, {"type": ["object", "array"]}
        )
    except ClawmemError as error:
        return planning.plan(query), str(error)
    clauses = planning.read_clauses(answer)
    return (clauses, "") if clauses else (planning.plan(query), "the model's answer could not be used")


@dataclass
class QueryPlan:
    """Splits the question, searches for the clauses concurrently with one deadline, and fuses by rank."""

    stores: RetrievalStores
    embedder: Embedder
    planner: Planner = lambda query: (planning.plan(query), "")
    deadline_s: float = DEADLINE_S
    _threads: NamedThreads = field(default_factory=NamedThreads)

    @cached_property
    def by_kind(self) -> Mapping[ClauseKind, Pipeline]:
        """The steps of the clauses of each kind."""
        stores, embedder = self.stores, self.embedder
        fused: dict[str, Stage] = {"fuse": fuse, "confidence": partial(confidence, stores.lexical, None)}
        steps: dict[ClauseKind, dict[str, Stage]] = {
            ClauseKind.LEXICAL: {"search": retrieval(stores, None, ["lexical"]), **fused},
            ClauseKind.VECTOR: {"search": nearest_vectors(stores, embedder), "nearest": nearest},
            ClauseKind.GRAPH: {
                "classify": partial(classify, stores.answers, None, None),
                "search": retrieval(stores, embedder, ["lexical", "vector"]),
                **fused,
                "graph": partial(follow_relations, stores, embedder, anchors=ANCHORS, bounds=CLAUSE_BOUNDS),
            },
        }
        return {kind: Pipeline(stores, {**stages, "cut": cut}) for kind, stages in steps.items()}

    def __call__(self, request: RetrievalRequest) -> Answer:
        """
        Answer *request*; a clause that is late or fails is reported in the trace, and the others answer.

        Raises:
            ClawmemError: no clause succeeded; this is the error of the first.
        """
        planned, reason = self.planner(request.question.text)
        clauses = {f"clause {n} ({c.type.value})": c for n, c in enumerate(planned, start=1)}
        steps: dict[str, Stage] = {
            "clauses": partial(self.search_clauses, clauses),
            "merge": partial(merge_clauses, clauses),
            "floor": above_floor,
            "score": score,
            "supersede": partial(supersede, self.stores),
            "cut": cut,
        }
        answer = Pipeline(self.stores, steps)(request)
        if reason:
            answer.trace.degraded["plan"] = reason
        counted = (replace(c, result_count=answer.trace.hits.get(name, 0)) for name, c in clauses.items())
        return replace(answer, plan=tuple(counted))

    def search_clauses(
        self, clauses: Mapping[str, Clause], request: RetrievalRequest, work: Work, trace: Trace
    ) -> Work:
        """
        Search for *clauses*, and put the hits of each into ``legs`` under its name.

        The probability of an answer is that of the likeliest clause. Candidates get none of their own: their relevance
        is of ranks.
        """
        parts: dict[str, tuple[Work, Trace]] = {}

        def search(name: str, clause: Clause, request: RetrievalRequest, work: Work) -> RetrieverResult:
            part = request.asking(clause.query)._replace(
                limit=DEPTH[clause.type], min_score=0.0, floor=0.0, diverse=False, show_all=True
            )
            found, _ = parts[name] = self.by_kind[clause.type].rank(part)
            return RetrieverResult({name: [Hit(c.best, c.relevance) for c in found.candidates]})

        legs = {name: partial(search, name, clause) for name, clause in clauses.items()}
        merged = run_retrievers(legs, self.deadline_s, threads=self._threads)(request, work, trace)
        for name in merged.legs:
            trace.degraded.update({f"{name}, {leg}": why for leg, why in parts[name][1].degraded.items()})
        answered = [parts[name][0].answered for name in merged.legs]
        return merged._replace(answered=max((a for a in answered if a is not None), default=None))


def merge_clauses(clauses: Mapping[str, Clause], request: RetrievalRequest, work: Work, trace: Trace) -> Work:
    """
    Fuse the hits of all clauses by reciprocal rank, weighted by their importance, as their scores are not comparable.

    Relevance is the share of the highest sum: it covers [0, 1], so metadata has the same influence as in other
    pipelines.
    """
    is_document = request.unit is Unit.DOCUMENT
    hits: dict[str, dict[int | FragmentKey, Hit]] = {}
    for name, found in work.legs.items():
        hits[name] = {}
        for hit in found:
            hits[name].setdefault(hit.key.document_id if is_document else hit.key, hit)
    weights = {name: 6.0 - clauses[name].priority for name in hits}
    total = dict(rrf({name: list(best) for name, best in hits.items()}, weights))
    candidates = []
    for key, relevance in min_max(total, floor=0.0).items():
        own = {name: best[key] for name, best in hits.items() if key in best}
        best = next(iter(own.values())).key  # of the most important clause
        legs = {name: hit.score for name, hit in own.items()}
        candidates.append(Candidate(best.document_id, best, relevance, relevance, legs))
    return work.with_candidates(candidates)


@dataclass(frozen=True)
class MemoryRetrieve:
    """Routes a question by its words, or by the mode that is chosen, to one of *pipelines*, each made at first use."""

    documents: DocumentStore
    sessions: SessionStore
    pipelines: Mapping[str, Callable[[], Ask]]

    def __call__(self, request: RetrievalRequest, mode: Route | None = None) -> Answer:
        """
        Answer *request* by the route *mode*, or without one by the route that `route` returns.

        A search by meaning becomes one by words if no vector is near enough or vectors cannot be searched. Before a
        timeline comes the newest handoff, with its next steps as the snippet, if it is asked for.
        """
        is_stop_asked = request.question.stopped_topic == frozenset()
        chosen = mode or (Route.TIMELINE if is_stop_asked else planning.route(request.question.text))
        name = PIPELINES[chosen]
        if name == VSEARCH and request.floor:
            name = QUERY  # a floor needs lexical evidence
        if name == VSEARCH:
            near_enough = request._replace(min_score=max(request.min_score, LEAST_COSINE))
            reason = "no vector is near enough; found by words"
            try:
                answer = self.pipelines[VSEARCH]()(near_enough)
                name = VSEARCH if answer.results else SEARCH
            except ClawmemError as error:
                name, reason = SEARCH, str(error)
            if name == SEARCH:
                answer = self.pipelines[SEARCH]()(request)
                answer.trace.degraded["vector"] = reason
        else:
            answer = self.pipelines[name]()(request)
        if chosen is not Route.TIMELINE:
            return replace(answer, mode=chosen)
        if is_stop_asked and not (request.question.named_time or request.content_types or request.floor):
            for_handoff = request.asking("what is the latest handoff")._replace(
                content_types=frozenset({"handoff"}), limit=1
            )
            for newest in self.pipelines[QUERY]()(for_handoff).results:
                others = [result for result in answer.results if result.document.id != newest.document.id]
                answer.trace.note("the newest handoff first")
                results = (replace(newest, words=NEXT_WORDS, span=None, purpose=()), *others)[: request.limit]
                likeliest = max(answer.answered or 0.0, newest.confidence or 0.0)
                answer = replace(answer, results=results, answered=likeliest)
        until = rewind_request(request).scope.authored_until
        sessions = tuple(sessions_with_outcome_first(self.sessions, self.documents, request.limit, until))
        if not sessions:
            answer.trace.degraded["sessions"] = "no session is recorded; the results are documents"
        return replace(answer, mode=chosen, sessions=sessions)
