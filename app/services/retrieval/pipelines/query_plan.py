"""``query_plan``: a question about several topics, split into clauses that are searched separately."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import NamedTuple

from clawmem.app.services.retrieval.answer import Answer
from clawmem.app.services.retrieval.pipeline import Pipeline
from clawmem.app.services.retrieval.request import RetrievalRequest, Unit
from clawmem.app.services.retrieval.retrievers import (
    VECTOR_ALONE_DEPTH,
    lexical_retriever,
    local_retrievers,
    vector_retriever,
)
from clawmem.app.services.retrieval.scheduling import NamedThreads, Retriever, RetrieverResult, RunRetrievers
from clawmem.app.services.retrieval.stages.cut import cut
from clawmem.app.services.retrieval.stages.exact_first import exact_first
from clawmem.app.services.retrieval.stages.fuse import fuse, nearest, precise_first
from clawmem.app.services.retrieval.stages.graph import graph
from clawmem.app.services.retrieval.stages.intent import classify
from clawmem.app.services.retrieval.stages.judge import judge_parts
from clawmem.app.services.retrieval.stages.score import score
from clawmem.app.services.retrieval.stages.successors import successors_first
from clawmem.app.services.retrieval.stores import RetrievalStores
from clawmem.app.services.retrieval.work import Candidate, Stage, Trace, Work
from clawmem.domain.graph.traversal import CLAUSE_BOUNDS
from clawmem.domain.knowledge.llm_answer import json_answer
from clawmem.domain.retrieval.fusion import min_max, rrf
from clawmem.domain.retrieval.planning import (
    MAX_TOKENS,
    READABLE,
    SCHEMA,
    TEMPERATURE,
    Clause,
    ClauseKind,
    decomposition_prompt,
    is_simple,
    plan,
    read_clauses,
)
from clawmem.ports.errors import ClawmemError
from clawmem.ports.models import Embedder, Generator
from clawmem.ports.records import Hit
from clawmem.ports.sessions import SessionStore

PLANNING_DEADLINE_S = 8.0  # for planning by a model, including a second attempt

NO_USE = "the model's answer could not be used"

DEADLINE_S = 5.0  # for all clauses together
DEPTH = {ClauseKind.LEXICAL: 20, ClauseKind.VECTOR: 20, ClauseKind.GRAPH: 15}  # results per clause
ANCHORS = 5  # documents from which the graph is traversed per clause

Clauses = Mapping[str, Clause]
Place = tuple[int, ...]
"""Key of a ranked item: a document, or one fragment of it."""


class Plan(NamedTuple):
    """Clauses, most important first, and why the model's plan is missing (empty if it is not)."""

    clauses: tuple[Clause, ...]
    degraded: str = ""


Planner = Callable[[str], Plan]


def by_rules(query: str) -> Plan:
    """Return the plan derived from the words of a question."""
    return Plan(plan(query))


def planner(sessions: SessionStore, generator: Generator | None) -> Planner:
    """Return a planner with a model that knows the last session, or by rules without a *generator*."""
    return by_rules if generator is None else ByModel(generator, lambda: _last_session(sessions))


@dataclass(frozen=True, slots=True)
class ByModel:
    """
    Planner that has a model split complex questions; simple ones are planned by rules.

    If the model is unavailable, late, or gives no usable answer, the plan is by rules. A question that rules cannot
    split is searched as a whole, first by words and then by vectors.
    """

    generator: Generator
    context: Callable[[], str] = (
        str  # the subject of the session; called for each question that goes to the model
    )
    deadline_s: float = PLANNING_DEADLINE_S

    def __call__(self, query: str) -> Plan:
        if is_simple(query):
            return by_rules(query)
        try:
            clauses = self._decomposed(query)
        except ClawmemError as error:
            return Plan(plan(query), str(error))
        return Plan(clauses) if clauses else Plan(plan(query), NO_USE)

    def _decomposed(self, query: str) -> tuple[Clause, ...]:
        until = perf_counter() + self.deadline_s

        def ask(prompt: str) -> str:
            return self.generator.generate(
                prompt,
                timeout_s=until - perf_counter(),
                max_tokens=MAX_TOKENS,
                temperature=TEMPERATURE,
                schema=SCHEMA,
            )

        return read_clauses(json_answer(ask, decomposition_prompt(query, self.context()), READABLE))


def _last_session(sessions: SessionStore) -> str:
    return "".join(session.summary for session in sessions.recent(1))


def named(clauses: Sequence[Clause]) -> dict[str, Clause]:
    """Return the clauses by their names in the trace, such as ``clause 1 (bm25)``."""
    return {f"clause {n} ({clause.kind.value})": clause for n, clause in enumerate(clauses, start=1)}


class AskClauses:
    """
    Searches for up to four clauses as `RunRetrievers` runs retrievers: concurrently, with a common deadline.

    The hits of each are put into ``legs`` under its name. A clause that is late or fails is reported in
    ``trace.degraded``. If none succeeds, the first error is raised.
    """

    def __init__(self, by_kind: Mapping[ClauseKind, Pipeline], deadline_s: float) -> None:
        self._by_kind = by_kind
        self._deadline_s = deadline_s
        self._threads = NamedThreads()

    def stage(self, clauses: Clauses) -> Stage:
        """Return the stage that searches for *clauses*."""

        def ask(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
            own: dict[str, Trace] = {}
            legs = {name: self._retriever(name, clause, own) for name, clause in clauses.items()}
            found = RunRetrievers(legs, self._deadline_s, threads=self._threads)(request, work, trace)
            for name in found.legs:
                trace.degraded.update({f"{name}, {leg}": why for leg, why in own[name].degraded.items()})
            return found

        return ask

    def _retriever(self, name: str, clause: Clause, traces: dict[str, Trace]) -> Retriever:
        def search(request: RetrievalRequest, work: Work) -> RetrieverResult:
            asked = request.asking(clause.query)._replace(limit=DEPTH[clause.kind], min_score=0.0)
            found, traces[name] = self._by_kind[clause.kind].rank(asked)
            return RetrieverResult({name: [Hit(one.best, one.relevance) for one in found.candidates]})

        return search


def merge_clauses(clauses: Clauses) -> Stage:
    """
    Return the stage that fuses the hits of all clauses by reciprocal rank, weighted by their importance.

    Only ranks count, as scores of words, vectors and the graph are not comparable. Relevance is the share of the
    highest sum: it covers [0, 1], so metadata has the same influence as in other pipelines.
    """

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        places = {name: _places(hits, request.unit) for name, hits in work.legs.items()}
        weights = {name: float(clauses[name].weight) for name in places}
        total = dict(rrf({name: list(place) for name, place in places.items()}, weights))
        return work.with_candidates(
            [_candidate(key, relevance, places) for key, relevance in min_max(total, floor=0.0).items()]
        )

    return stage


def _places(hits: Iterable[Hit], unit: Unit) -> dict[Place, Hit]:
    """Return the best hit of each ranked item, best first."""
    best: dict[Place, Hit] = {}
    for hit in hits:
        best.setdefault(hit.key[: 1 if unit is Unit.DOCUMENT else 2], hit)
    return best


def _candidate(key: Place, relevance: float, places: Mapping[str, Mapping[Place, Hit]]) -> Candidate:
    hits = {name: found[key] for name, found in places.items() if key in found}
    best = next(iter(hits.values())).key  # of the most important clause
    return Candidate(best.document_id, best, relevance, relevance, {n: hit.score for n, hit in hits.items()})


@dataclass(frozen=True, slots=True)
class PlannedClause:
    """A clause of a plan as interfaces show it; ``result_count`` is 0 if the clause failed or was late."""

    type: ClauseKind
    query: str
    priority: int
    result_count: int


class PlanAnswer(Answer):
    """An answer with the clauses of the question."""

    def __init__(self, found: Answer, plan: tuple[PlannedClause, ...]) -> None:
        super().__init__(found.query, found.results, found.trace, answered=found.answered)
        self.plan = plan


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """Splits the question, searches for the clauses concurrently with one deadline, and fuses the hits by rank."""

    stores: RetrievalStores
    clauses: AskClauses
    parts: Stage  # searches words and vectors for each part of a question, to judge whether it is answered
    planner: Planner = by_rules

    def __call__(self, request: RetrievalRequest) -> PlanAnswer:
        """
        Answer *request*; a clause that is late or fails is reported in the trace, and the others answer.

        Raises:
            ClawmemError: no clause succeeded; this is the error of the first.
        """
        planned = self.planner(request.question.text)
        clauses = named(planned.clauses)
        found = self._pipeline(clauses)(request)
        if planned.degraded:
            found.trace.degraded["plan"] = planned.degraded
        shown = _shown(clauses, found.trace.hits)
        return PlanAnswer(found, shown)

    def _pipeline(self, clauses: Clauses) -> Pipeline:
        stores = self.stores
        return Pipeline(
            stores,
            {
                "clauses": self.clauses.stage(clauses),
                "merge": merge_clauses(clauses),
                "judge": judge_parts(
                    stores.documents,
                    stores.lexical,
                    stores.embeddings,
                    self.parts,
                    {clause.query for clause in clauses.values()},
                ),
                "score": score(stores.documents),
                "successors first": successors_first(stores.documents, stores.successions),
                "cut": cut,
            },
        )


def query_plan(
    stores: RetrievalStores,
    embedder: Embedder,
    planner: Planner = by_rules,
    deadline_s: float = DEADLINE_S,
) -> QueryPlan:
    """Return a pipeline for lexical clauses, vector clauses, and clauses that also traverse the graph."""
    by_kind = {
        ClauseKind.LEXICAL: _by_words(stores),
        ClauseKind.VECTOR: _by_meaning(stores, embedder),
        ClauseKind.GRAPH: _along_the_graph(stores, embedder),
    }
    legs = {
        "lexical": lexical_retriever(stores.lexical),
        "vector": vector_retriever(stores.vectors, stores.embeddings, embedder),
    }
    parts = RunRetrievers(
        legs, deadline_s, at_hand=partial(local_retrievers, stores.lexical, stores.vectors, embedder)
    )
    return QueryPlan(stores, AskClauses(by_kind, deadline_s), parts, planner)


def _by_words(stores: RetrievalStores) -> Pipeline:
    return Pipeline(
        stores,
        {
            "search": RunRetrievers({"lexical": lexical_retriever(stores.lexical)}),
            "fuse": fuse(stores.documents),
            "precise first": precise_first(stores.documents),
            "exact first": exact_first(stores.documents),
            "cut": cut,
        },
    )


def _by_meaning(stores: RetrievalStores, embedder: Embedder) -> Pipeline:
    leg = vector_retriever(stores.vectors, stores.embeddings, embedder, VECTOR_ALONE_DEPTH)
    return Pipeline(
        stores, {"search": RunRetrievers({"vector": leg}), "nearest": nearest(stores.documents), "cut": cut}
    )


def _along_the_graph(stores: RetrievalStores, embedder: Embedder) -> Pipeline:
    return Pipeline(
        stores,
        {
            "classify": classify(),
            "search": RunRetrievers(
                {
                    "lexical": lexical_retriever(stores.lexical),
                    "vector": vector_retriever(stores.vectors, stores.embeddings, embedder),
                },
                at_hand=partial(local_retrievers, stores.lexical, stores.vectors, embedder),
            ),
            "fuse": fuse(stores.documents),
            "graph": graph(
                stores.embeddings,
                stores.relations,
                stores.entities,
                embedder,
                anchors=ANCHORS,
                bounds=CLAUSE_BOUNDS,
            ),
            "cut": cut,
        },
    )


def _shown(clauses: Clauses, counts: Mapping[str, int]) -> tuple[PlannedClause, ...]:
    return tuple(
        PlannedClause(clause.kind, clause.query, clause.priority, counts.get(name, 0))
        for name, clause in clauses.items()
    )
