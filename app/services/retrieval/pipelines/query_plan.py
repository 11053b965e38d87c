"""``query_plan``: a question about several topics, split into clauses that are searched separately."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from clawmem.app.services.retrieval.answer import Answer
from clawmem.app.services.retrieval.clauses import AskClauses, Clauses, merge_clauses, named
from clawmem.app.services.retrieval.legs.ask_all import RunRetrievers
from clawmem.app.services.retrieval.legs.at_hand import local_retrievers
from clawmem.app.services.retrieval.legs.lexical import lexical_retriever
from clawmem.app.services.retrieval.legs.vector import VECTOR_ALONE_DEPTH, vector_retriever
from clawmem.app.services.retrieval.pipeline import Pipeline
from clawmem.app.services.retrieval.plans import Planner, by_rules
from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.stages.classify import classify
from clawmem.app.services.retrieval.stages.cut import cut
from clawmem.app.services.retrieval.stages.fuse import fuse
from clawmem.app.services.retrieval.stages.graph import graph
from clawmem.app.services.retrieval.stages.judge_parts import judge_parts
from clawmem.app.services.retrieval.stages.nearest import nearest
from clawmem.app.services.retrieval.stages.precise_first import precise_first
from clawmem.app.services.retrieval.stages.score import score
from clawmem.app.services.retrieval.stages.successors_first import successors_first
from clawmem.app.services.retrieval.work import Stage
from clawmem.domain.graph.traversal import CLAUSE_BOUNDS
from clawmem.domain.retrieval.planning import ClauseKind
from clawmem.ports.embedder import Embedder
from clawmem.ports.vault import Vault

DEADLINE_S = 5.0  # for all clauses together
ANCHORS = 5  # documents from which the graph is traversed per clause


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


class QueryPlan:
    """Splits the question, searches for the clauses concurrently with one deadline, and fuses the hits by rank."""

    def __init__(self, vault: Vault, clauses: AskClauses, parts: Stage, planner: Planner = by_rules) -> None:
        """
        Args:
            parts: Searches words and vectors for each part of a question, to judge whether it is answered.
        """
        self._vault = vault
        self._clauses = clauses
        self._parts = parts
        self._planner = planner

    def __call__(self, request: RetrievalRequest) -> PlanAnswer:
        """
        Answer *request*; a clause that is late or fails is reported in the trace, and the others answer.

        Raises:
            ClawmemError: no clause succeeded; this is the error of the first.
        """
        planned = self._planner(request.query)
        clauses = named(planned.clauses)
        found = self._pipeline(clauses)(request)
        if planned.degraded:
            found.trace.degraded["plan"] = planned.degraded
        shown = _shown(clauses, found.trace.hits)
        return PlanAnswer(found, shown)

    def _pipeline(self, clauses: Clauses) -> Pipeline:
        return Pipeline(
            self._vault,
            {
                "clauses": self._clauses.stage(clauses),
                "merge": merge_clauses(clauses),
                "judge": judge_parts(self._vault, self._parts, {c.query for c in clauses.values()}),
                "score": score(self._vault),
                "successors first": successors_first(self._vault),
                "cut": cut,
            },
        )


def query_plan(
    vault: Vault, embedder: Embedder, planner: Planner = by_rules, deadline_s: float = DEADLINE_S
) -> QueryPlan:
    """Return a pipeline for lexical clauses, vector clauses, and clauses that also traverse the graph."""
    by_kind = {
        ClauseKind.LEXICAL: _by_words(vault),
        ClauseKind.VECTOR: _by_meaning(vault, embedder),
        ClauseKind.GRAPH: _along_the_graph(vault, embedder),
    }
    legs = {"lexical": lexical_retriever(vault), "vector": vector_retriever(vault, embedder)}
    parts = RunRetrievers(legs, deadline_s, at_hand=partial(local_retrievers, vault, embedder))
    return QueryPlan(vault, AskClauses(by_kind, deadline_s), parts, planner)


def _by_words(vault: Vault) -> Pipeline:
    return Pipeline(
        vault,
        {
            "search": RunRetrievers({"lexical": lexical_retriever(vault)}),
            "fuse": fuse(vault),
            "precise first": precise_first(vault),
            "cut": cut,
        },
    )


def _by_meaning(vault: Vault, embedder: Embedder) -> Pipeline:
    leg = vector_retriever(vault, embedder, VECTOR_ALONE_DEPTH)
    return Pipeline(vault, {"search": RunRetrievers({"vector": leg}), "nearest": nearest(vault), "cut": cut})


def _along_the_graph(vault: Vault, embedder: Embedder) -> Pipeline:
    return Pipeline(
        vault,
        {
            "classify": classify(),
            "search": RunRetrievers(
                {"lexical": lexical_retriever(vault), "vector": vector_retriever(vault, embedder)},
                at_hand=partial(local_retrievers, vault, embedder),
            ),
            "fuse": fuse(vault),
            "graph": graph(vault, embedder, anchors=ANCHORS, bounds=CLAUSE_BOUNDS),
            "cut": cut,
        },
    )


def _shown(clauses: Clauses, counts: Mapping[str, int]) -> tuple[PlannedClause, ...]:
    return tuple(
        PlannedClause(clause.kind, clause.query, clause.priority, counts.get(name, 0))
        for name, clause in clauses.items()
    )
