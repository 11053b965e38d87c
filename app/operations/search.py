"""Questions: by words, by meaning, by both, by intent, in parts, or by the way that fits."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AliasChoices, BeforeValidator, Field

from clawmem.app.operations.answers import SearchAnswer, answer_of, answer_parts
from clawmem.app.operations.fields import (
    AsOf,
    CollectionNames,
    Conditions,
    Limit,
    Names,
    TagNames,
    conditions_in,
    listed,
    named_collections,
)
from clawmem.app.operations.operation import Command, Effect, Option, Request, operation
from clawmem.app.services.documents.listing import check_filters
from clawmem.app.services.retrieval.receipts import pack
from clawmem.app.services.retrieval.request import (
    LEAST_COSINE,
    MAX_LIMIT,
    Ranking,
    RetrievalRequest,
    Unit,
    read_request,
)
from clawmem.app.services.retrieval.retrieve import report_missing_vectors, require_vectors
from clawmem.domain.retrieval.intent import Intent
from clawmem.domain.retrieval.query_forms import MAX_QUERY
from clawmem.domain.retrieval.relevance import Likelihood, likelihood_of
from clawmem.domain.retrieval.routing import Route
from clawmem.domain.text.dates import as_of_day

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.services.retrieval.answer import Answer

RARE = Option(is_daily=False)
QuestionText = Annotated[
    str,
    Field(min_length=1, max_length=MAX_QUERY, description="The question, as a person would put it."),
    Option(metavar="QUESTION...", is_argument=True),
]
MinScore = Annotated[float, Field(ge=0, le=1, description="Leave out what scores less, 0 to 1."), RARE]
Compact = Annotated[bool, Field(description="Short snippets and few keys; read on with get."), RARE]
IntentName = Annotated[
    Literal["WHY", "WHEN", "ENTITY", "WHAT"], BeforeValidator(lambda value: str(value).upper())
]
RouteName = Annotated[
    Literal["auto", "timeline", "causal", "discovery", "complex", "keyword", "semantic", "hybrid"],
    BeforeValidator(lambda value: str(value).lower()),
]


class Question(Request):
    """The parameters of every search."""

    query: QuestionText
    limit: Limit = 10
    collection: CollectionNames = ""
    since: Annotated[str, Field(description="Only documents written on or after this day.")] = ""
    until: Annotated[str, Field(description="Only documents written on or before this day.")] = ""
    as_of: AsOf = ""
    content_type: Annotated[Names, Field(description="Only these content types."), Option(("--type",))] = ""
    tag: TagNames = ""
    where: Conditions = ""
    min_score: MinScore = 0.0
    floor: Annotated[
        float, Field(ge=0, le=1, description="Answer nothing unless it is this probable, 0 to 1."), RARE
    ] = 0.0
    unit: Annotated[
        Literal["document", "line"],
        Field(description="Type of a result; a line is a paragraph, list item or chat turn."),
        Option(tool=None),
    ] = "document"
    show_all: Annotated[
        bool,
        Field(description="Show also unlikely results below a likely one."),
        Option(("--all",), is_daily=False),
    ] = False
    compact: Compact = True
    body: Annotated[bool, Field(description="Add the whole texts."), Option(("--full",), tool=None)] = False
    explain: Annotated[bool, Field(description="Show how the list came about."), Option(tool=None)] = False


class MeaningSearch(Question):
    """A question, searched by meaning."""

    min_score: MinScore = LEAST_COSINE


class Query(Question):
    """A question, searched by words and meaning."""

    purpose: Annotated[
        str,
        Field(
            validation_alias=AliasChoices("purpose", "intent"),
            description="Purpose of the answer; it influences the ranking and is not searched.",
        ),
        Option(tool="intent", is_daily=False),
    ] = ""
    diverse: Annotated[
        bool,
        Field(description="Move near-copies of a result back."),
        Option(("--diverse/--no-diverse",), is_daily=False),
    ] = True
    candidate_limit: Annotated[
        int | None,
        Field(
            ge=1,
            le=MAX_LIMIT,
            description="Number of the best candidates that are compared closely, 1 to 100.",
        ),
        Option(is_daily=False),
    ] = None


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


class Retrieval(Query):
    """A question, searched by the route that fits it."""

    mode: Annotated[RouteName, Field(description="The way to search; auto chooses it by the question.")] = (
        "auto"
    )


FULL = {"compact": False}
BY_WORDS = "Find by words. Loads no model."


def query_mode(value: str, about: str, **fixed: Any) -> Command:
    """Return the command ``query`` with a mode."""
    return Command("query", f"--mode={value}", fixed={**FULL, **fixed}, about=about)


search_operation = partial(operation, Effect.READS, text=answer_parts, by_post=True)


@search_operation(
    route="/query",
    commands=(query_mode("hybrid", "Find by words and meaning together: the best answer clawmem has."),),
)
def query(services: Services, request: Query) -> SearchAnswer:
    """Find by words and meaning together, compared closely: the best single answer there is."""
    is_openclaw = Ranking(services.settings.ranking) is Ranking.OPENCLAW
    return answer_question(
        services, request, "query", services.pipeline("openclaw" if is_openclaw else "query")
    )


@search_operation(
    commands=(Command("search", fixed=FULL, about=BY_WORDS), query_mode("words", BY_WORDS)),
)
def search(services: Services, request: Question) -> SearchAnswer:
    """Find by words: for names, identifiers, error messages, file names. The quickest."""
    return answer_question(services, request, "search", services.pipeline("search"))


@search_operation(
    route="/vsearch",
    commands=(query_mode("vectors", "Find by meaning. Needs the vectors of 'clawmem embed'."),),
)
def vsearch(services: Services, request: MeaningSearch) -> SearchAnswer:
    """Find by meaning alone, for texts in other words. There is always a nearest document."""
    require_vectors(services.vault.embeddings, "found")
    return answer_question(services, request, "vsearch", services.pipeline("vsearch"))


@search_operation(
    route="/retrieve",
    commands=(
        query_mode(
            "auto",
            "Find by the way that fits the question: one of the others, or along causes or sessions.",
            mode="auto",
        ),
    ),
)
def memory_retrieve(services: Services, request: Retrieval) -> SearchAnswer:
    """
    Find what the user's notes and earlier sessions say, by whichever way the question calls for. Begin here.

    Takes why-questions along causes, "last session" to the sessions, several questions apart, names to words.
    """
    mode = None if request.mode == "auto" else Route(request.mode)
    return answer_question(services, request, "memory_retrieve", partial(services.memory_retrieve, mode=mode))


@search_operation(route="/search", commands=(), is_tool=False)
def any_search(services: Services, request: Retrieval) -> SearchAnswer:
    """Find as retrieve does."""
    return memory_retrieve(services, request)


@search_operation(
    route="/intent-search",
    commands=(query_mode("intent", "Find by the intent of the question; follows reasons and relations."),),
)
def intent_search(services: Services, request: IntentSearch) -> SearchAnswer:
    """Find by the intent of the question (why, when, who), along the relations of documents."""
    intent = Intent(request.intent) if request.intent else None
    find = services.intent_search_of(intent=intent, with_graph=request.graph)
    return answer_question(services, request, "intent_search", find)


@search_operation(
    route="/plan",
    commands=(query_mode("plan", "Split a question into its topics and merge the answers."),),
)
def query_plan(services: Services, request: Question) -> SearchAnswer:
    """Find for a question of several topics: it is split, and its parts are answered together."""
    return answer_question(services, request, "query_plan", services.query_plan)


def answer_question(
    services: Services, request: Question, verb: str, find: Callable[[RetrievalRequest], Answer]
) -> SearchAnswer:
    """Return the answer of *find*, and record it with a receipt, as an answer to *verb*."""
    began = perf_counter()
    tags, where = listed(request.tag), conditions_in(request.where)
    if tags or where:
        check_filters(services.vault.documents, services.vault.properties, tags, where)
    conditions: dict[str, Any] = {
        **request.model_dump(include={*RetrievalRequest._fields, "since", "until"}),
        "collections": named_collections(services, request.collection),
        "content_types": listed(request.content_type),
        "tags": tags,
        "where": where,
        "ranking": Ranking(services.settings.ranking),
        "unit": Unit(request.unit),
    }
    clock = services.clock
    now_ms, zone = clock.now_ms(), clock.zone()
    conditions["as_of"] = request.as_of or as_of_day(request.query, now_ms=now_ms, zone=zone)
    asked = read_request(request.query, now_ms=now_ms, zone=zone, **conditions)
    answer = find(asked)
    if services.vault.documents.latest(limit=1):
        report_missing_vectors(services.vault.embeddings, verb, answer)
        is_unlikely = answer.answered is not None and likelihood_of(answer.answered) is Likelihood.UNLIKELY
        if is_unlikely and (advice := services.language_advice(question=request.query)):
            answer.trace.degraded["languages"] = advice
    else:
        answer.trace.degraded["vault"] = "it has no notes yet. Run: clawmem bootstrap PATH"
    took_ms = (perf_counter() - began) * 1000
    receipt = services.explain(answer, asked, verb, took_ms) if request.explain else None
    number = services.recalls.record(
        answer,
        verb,
        took_ms,
        limit=request.limit,
        receipt=lambda: pack(receipt or services.explain(answer, asked, verb, took_ms)),
    )
    return answer_of(
        answer,
        services.settings,
        as_of=conditions["as_of"],
        compact=request.compact,
        with_bodies=request.body,
        receipt=receipt,
        receipt_id=number if services.recalls.keeps_receipts else None,
    )
