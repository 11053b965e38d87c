"""Search operations: search, vsearch, query, intent-search, plan, retrieve, explain."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from typing import Any, Literal

from pydantic import Field

from clawmem.app.bootstrap.services import Services
from clawmem.app.interfaces.cli.retrieval import Question, ask
from clawmem.app.interfaces.rest.operation import reading
from clawmem.app.interfaces.rest.questions import Answered, AnyQuestion, ScoredQuestion, answered
from clawmem.app.records.parameters import CandidateLimit, Diverse, MinScore, Purpose
from clawmem.app.services.retrieval.answer import Answer
from clawmem.app.services.retrieval.pipelines.intent_search import IntentAnswer
from clawmem.app.services.retrieval.pipelines.memory_retrieve import RoutedAnswer
from clawmem.app.services.retrieval.pipelines.query_plan import PlanAnswer
from clawmem.app.services.retrieval.request import LEAST_COSINE, RetrievalRequest
from clawmem.domain.retrieval.intent import Intent
from clawmem.domain.retrieval.routing import Route

FEW_WORDS = 3  # most words of a question that is treated as a name rather than as a sentence


class Mode(StrEnum):
    """The search mode."""

    AUTO = "auto"
    KEYWORD = "keyword"
    SEMANTIC = "semantic"
    HYBRID = "hybrid"


VERBS = {Mode.KEYWORD: "search", Mode.SEMANTIC: "vsearch", Mode.HYBRID: "query"}


class QueryQuestion(ScoredQuestion):
    """A question searched by words and meaning together."""

    intent: Purpose = ""
    diverse: Diverse = True
    candidate_limit: CandidateLimit = None

    def question(self) -> Question:
        """Return the question as the command line represents it."""
        question = super().question()._replace(intent=self.intent, diverse=self.diverse)
        return question._replace(candidate_limit=self.candidate_limit)


class SearchQuestion(QueryQuestion):
    """A question searched by words, by meaning or by both."""

    mode: Mode = Field(Mode.AUTO, description="auto: by words alone, if there are at most three.")


class MeaningQuestion(ScoredQuestion):
    """A question searched by meaning alone."""

    min_score: MinScore = LEAST_COSINE


class IntentQuestion(AnyQuestion):
    """A question searched by its intent."""

    intent: Intent | None = Field(None, description="Without one the question's own words say it.")
    graph: bool = Field(True, description="Whether relations are followed from document to document.")
    min_score: MinScore = 0.0

    def question(self) -> Question:
        """Return the question as the command line represents it."""
        return super().question()._replace(min_score=self.min_score)


class RetrieveQuestion(AnyQuestion):
    """A question searched by the route that fits it."""

    mode: Literal["auto"] | Route = Field(
        "auto", description="The way; auto lets the question's words choose."
    )


def search(services: Services, asked: SearchQuestion) -> dict[str, Any]:
    """Find by words, by meaning or by both."""
    mode = _mode(asked)
    verb = VERBS[mode]
    return answered(services, asked, verb, partial(ask, services, verb), lambda found: {"mode": mode})


def vsearch(services: Services, asked: MeaningQuestion) -> dict[str, Any]:
    """Find by meaning."""
    return answered(services, asked, "vsearch", partial(ask, services, "vsearch"))


def query(services: Services, asked: QueryQuestion) -> dict[str, Any]:
    """Find by words and meaning together: the best answer clawmem has."""
    return answered(services, asked, "query", partial(ask, services, "query"))


def intent_search(services: Services, asked: IntentQuestion) -> dict[str, Any]:
    """Find by the intent of the question; follows reasons and relations from document to document."""

    def find(request: RetrievalRequest) -> Answer:
        return services.pipelines.intended(asked.intent, with_graph=asked.graph)(request)

    def said(found: IntentAnswer) -> dict[str, Any]:
        return {"intent": found.intent, "confidence": found.confidence}

    return answered(services, asked, "intent_search", find, said)


def plan(services: Services, asked: AnyQuestion) -> dict[str, Any]:
    """Split a question of several topics into clauses, and merge the answers."""

    def said(found: PlanAnswer) -> dict[str, Any]:
        return {"plan": found.plan}

    return answered(services, asked, "query_plan", services.pipelines.query_plan, said)


def retrieve(services: Services, asked: RetrieveQuestion) -> dict[str, Any]:
    """Find by the route that fits the question. Begin here."""
    way = None if asked.mode == "auto" else Route(asked.mode)

    def find(request: RetrievalRequest) -> Answer:
        return services.pipelines.memory_retrieve(request, way)

    return answered(services, asked, "memory_retrieve", find, _way)


def explain(services: Services, asked: RetrieveQuestion) -> dict[str, Any]:
    """Find as retrieve does, and explain the scores and the order of the results."""
    return retrieve(services, asked.model_copy(update={"explain": True}))


def _mode(asked: SearchQuestion) -> Mode:
    if asked.mode is not Mode.AUTO:
        return asked.mode
    return Mode.KEYWORD if len(asked.query.split()) <= FEW_WORDS else Mode.HYBRID


def _way(found: RoutedAnswer) -> dict[str, Any]:
    said = {
        "intent": found.intent,
        "confidence": found.confidence,
        "clauses": len(found.plan) or None,
        "plan": found.plan or None,
        "sessions": found.sessions or None,
    }
    return {"mode": found.mode, **{name: value for name, value in said.items() if value is not None}}


OPERATIONS = (
    reading("POST", "/search", SearchQuestion, Answered, search),
    reading("POST", "/vsearch", MeaningQuestion, Answered, vsearch),
    reading("POST", "/query", QueryQuestion, Answered, query),
    reading("POST", "/intent-search", IntentQuestion, Answered, intent_search),
    reading("POST", "/plan", AnyQuestion, Answered, plan),
    reading("POST", "/retrieve", RetrieveQuestion, Answered, retrieve),
    reading("POST", "/explain", RetrieveQuestion, Answered, explain),
)
