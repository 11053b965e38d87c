"""Questions whose way is chosen: by the route that fits, by their intent, or in parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from clawmem.app.operations.answering import clauses_of
from clawmem.app.operations.answers import SearchAnswer
from clawmem.app.operations.operation import Command, Option
from clawmem.app.operations.questions import MinScore, Question
from clawmem.app.operations.search import FULL, Query, answer_question, query_mode, search_operation
from clawmem.domain.retrieval.intent import Intent
from clawmem.domain.retrieval.routing import Route

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.services.retrieval.answer import Answer
    from clawmem.app.services.retrieval.request import RetrievalRequest


def _upper(value: object) -> object:
    return value.upper() if isinstance(value, str) else value


def _lower(value: object) -> object:
    return value.lower() if isinstance(value, str) else value


IntentName = Annotated[Literal["WHY", "WHEN", "ENTITY", "WHAT"], BeforeValidator(_upper)]
RouteName = Annotated[
    Literal["auto", "timeline", "causal", "discovery", "complex", "keyword", "semantic", "hybrid"],
    BeforeValidator(_lower),
]


class IntentSearch(Question):
    """A question, searched by its intent."""

    intent: Annotated[
        IntentName | None,
        Field(description="WHY, WHEN, ENTITY or WHAT; without one the question's words decide."),
        Option(tool="force_intent"),
    ] = None
    graph: Annotated[
        bool,
        Field(description="Follow relations from document to document."),
        Option(("--graph/--no-graph",), tool="enable_graph_traversal"),
    ] = True
    min_score: MinScore = 0.0


class Retrieval(Question):
    """A question, searched by the route that fits it."""

    mode: Annotated[
        RouteName,
        Field(
            description="timeline, causal, discovery, complex, keyword, semantic, hybrid; auto: by the question."
        ),
    ] = "auto"


class AnySearch(Query):
    """A question, searched by the mode that the caller chooses, with every parameter."""

    mode: Annotated[RouteName, Field(description="As of /retrieve.")] = "auto"


@search_operation(
    "/retrieve",
    Command(
        "query",
        "--mode=auto",
        fixed={**FULL, "mode": "auto"},
        about="Find by the way that fits the question: one of the others, or along causes or sessions.",
    ),
)
def memory_retrieve(services: Services, request: Retrieval) -> SearchAnswer:
    """
    Find what the user's notes and earlier sessions say, by whichever way the question calls for. Begin here.

    Takes why-questions along causes, "last session" to the sessions, several questions apart, names to words.
    """
    return _retrieved(services, request)


@search_operation("/search")
def any_search(services: Services, request: AnySearch) -> SearchAnswer:
    """Find as retrieve does, with every parameter of query."""
    return _retrieved(services, request)


def _retrieved(services: Services, request: Retrieval | AnySearch) -> SearchAnswer:
    route = None if request.mode == "auto" else Route(request.mode)

    def find(asked: RetrievalRequest) -> Answer:
        return services.memory_retrieve(asked, route)

    return answer_question(services, request, "memory_retrieve", find, _keys_of_route)


@search_operation("/explain")
def explain(services: Services, request: Retrieval) -> SearchAnswer:
    """Find as retrieve does, and explain the scores and the order of the results."""
    return memory_retrieve(services, request.model_copy(update={"explain": True}))


@search_operation(
    "/intent-search",
    query_mode("intent", "Find by the intent of the question; follows reasons and relations."),
)
def intent_search(services: Services, request: IntentSearch) -> SearchAnswer:
    """Find by the intent of the question (why, when, who), along the relations of documents."""
    intent = Intent(request.intent) if request.intent else None

    def find(asked: RetrievalRequest) -> Answer:
        return services.intent_search_of(intent=intent, with_graph=request.graph)(asked)

    return answer_question(
        services,
        request,
        "intent_search",
        find,
        lambda found: {"intent": found.intent, "confidence": found.confidence},
    )


@search_operation("/plan", query_mode("plan", "Split a question into its topics and merge the answers."))
def query_plan(services: Services, request: Question) -> SearchAnswer:
    """Find for a question of several topics: it is split, and its parts are answered together."""

    def find(asked: RetrievalRequest) -> Answer:
        return services.query_plan(asked)

    return answer_question(
        services, request, "query_plan", find, lambda found: {"plan": clauses_of(found.plan)}
    )


def _keys_of_route(found: Answer) -> dict[str, Any]:
    only_of_some = {
        "intent": found.intent,
        "confidence": found.confidence,
        "clauses": len(found.plan) or None,
        "plan": clauses_of(found.plan) or None,
        "sessions": [*found.sessions] or None,
    }
    return {"mode": found.mode, **{name: value for name, value in only_of_some.items() if value is not None}}
