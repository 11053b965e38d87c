"""``query_plan``: a question about several topics, split into clauses that are searched separately."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import NamedTuple

from clawmem.app.services.retrieval.answer import Answer
from clawmem.app.services.retrieval.pipeline import Pipeline
from clawmem.app.services.retrieval.pipelines.clauses import AskClauses, Clauses, merge_clauses, named
from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.retrievers import (
    VECTOR_ALONE_DEPTH,
    lexical_retriever,
    local_retrievers,
    vector_retriever,
)
from clawmem.app.services.retrieval.scheduling import RunRetrievers
from clawmem.app.services.retrieval.stages.cut import cut
from clawmem.app.services.retrieval.stages.fuse import fuse, nearest, precise_first
from clawmem.app.services.retrieval.stages.graph import graph
from clawmem.app.services.retrieval.stages.intent import classify
from clawmem.app.services.retrieval.stages.judge import judge_parts
from clawmem.app.services.retrieval.stages.score import score
from clawmem.app.services.retrieval.stages.successors import successors_first
from clawmem.app.services.retrieval.work import Stage
from clawmem.domain.graph.traversal import CLAUSE_BOUNDS
from clawmem.domain.knowledge.llm_answer import json_answer
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
from clawmem.ports.embedder import Embedder
from clawmem.ports.errors import ClawmemError
from clawmem.ports.generator import Generator
from clawmem.ports.vault import Vault

PLANNING_DEADLINE_S = 8.0  # for planning by a model, including a second attempt

NO_USE = "the model's answer could not be used"

DEADLINE_S = 5.0  # for all clauses together
ANCHORS = 5  # documents from which the graph is traversed per clause


class Plan(NamedTuple):
    """Clauses, most important first, and why the model's plan is missing (empty if it is not)."""

    clauses: tuple[Clause, ...]
    degraded: str = ""


Planner = Callable[[str], Plan]


def by_rules(query: str) -> Plan:
    """Return the plan derived from the words of a question."""
    return Plan(plan(query))


def planner(vault: Vault, generator: Generator | None) -> Planner:
    """Return a planner with a model that knows the last session, or by rules without a *generator*."""
    return by_rules if generator is None else ByModel(generator, lambda: _last_session(vault))


class ByModel:
    """
    Planner that has a model split complex questions; simple ones are planned by rules.

    If the model is unavailable, late, or gives no usable answer, the plan is by rules. A question that rules cannot
    split is searched as a whole, first by words and then by vectors.
    """

    def __init__(
        self, generator: Generator, context: Callable[[], str] = str, deadline_s: float = PLANNING_DEADLINE_S
    ) -> None:
        """
        Args:
            context: Returns the subject of the session; called for each question that goes to the model.
        """
        self._generator = generator
        self._context = context
        self._deadline_s = deadline_s

    def __call__(self, query: str) -> Plan:
        if is_simple(query):
            return by_rules(query)
        try:
            clauses = self._decomposed(query)
        except ClawmemError as error:
            return Plan(plan(query), str(error))
        return Plan(clauses) if clauses else Plan(plan(query), NO_USE)

    def _decomposed(self, query: str) -> tuple[Clause, ...]:
        until = perf_counter() + self._deadline_s

        def ask(prompt: str) -> str:
            return self._generator.generate(
                prompt,
                timeout_s=until - perf_counter(),
                max_tokens=MAX_TOKENS,
                temperature=TEMPERATURE,
                schema=SCHEMA,
            )

        return read_clauses(json_answer(ask, decomposition_prompt(query, self._context()), READABLE))


def _last_session(vault: Vault) -> str:
    return "".join(session.summary for session in vault.sessions.recent(1))


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
        planned = self._planner(request.question.text)
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
