"""Questions: search by words, by meaning, or by both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import AliasChoices, Field

from clawmem.app.operations.answer_text import answer_parts, answer_text
from clawmem.app.operations.answering import answer_of
from clawmem.app.operations.answers import SearchAnswer
from clawmem.app.operations.fields import conditions_in, listed, named_collections
from clawmem.app.operations.operation import Command, Effect, Operation, Option, operation
from clawmem.app.operations.questions import MinScore, Question, Search
from clawmem.app.services.documents.listing import check_filters
from clawmem.app.services.retrieval.receipts import AnswerContext, pack
from clawmem.app.services.retrieval.request import LEAST_COSINE, MAX_LIMIT, Ranking, Unit, read_request
from clawmem.app.services.retrieval.retrievers import report_missing_vectors, require_vectors
from clawmem.app.version import VERSION

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.services.retrieval.answer import Answer
    from clawmem.app.services.retrieval.receipts import Receipt
    from clawmem.app.services.retrieval.request import RetrievalRequest

F = TypeVar("F", bound="Answer")
Q = TypeVar("Q", bound=Question)

OF_SOME = ("min_score", "purpose", "diverse", "candidate_limit")  # parameters that not every search has


class MeaningSearch(Search):
    """A question, searched by meaning."""

    min_score: MinScore = LEAST_COSINE


class Query(Search):
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


FULL = {"compact": False}
BY_WORDS = "Find by words. Loads no model."


def query_mode(mode: str, about: str) -> Command:
    """Return the command ``query`` with a mode."""
    return Command("query", f"--mode={mode}", fixed=FULL, about=about)


def search_operation(
    route: str, *commands: Command
) -> Callable[[Callable[[Services, Q], SearchAnswer]], Operation[[Q], SearchAnswer]]:
    """Return a decorator for a search; without *commands* it is a REST route alone."""
    return operation(
        Effect.READS,
        text=answer_text,
        terminal=answer_parts,
        documents=lambda answer: answer.results,
        route=route,
        by_post=True,
        commands=commands,
        is_tool=bool(commands),
    )


@search_operation(
    "/query", query_mode("hybrid", "Find by words and meaning together: the best answer clawmem has.")
)
def query(services: Services, request: Query) -> SearchAnswer:
    """Find by words and meaning together, compared closely: the best single answer there is."""
    return answer_question(services, request, "query", partial(ask, services, "query"))


@search_operation("", Command("search", fixed=FULL, about=BY_WORDS), query_mode("words", BY_WORDS))
def search(services: Services, request: Search) -> SearchAnswer:
    """Find by words: for names, identifiers, error messages, file names. The quickest."""
    return answer_question(services, request, "search", partial(ask, services, "search"))


@search_operation("/vsearch", query_mode("vectors", "Find by meaning. Needs the vectors of 'clawmem embed'."))
def vsearch(services: Services, request: MeaningSearch) -> SearchAnswer:
    """Find by meaning alone, for texts in other words. There is always a nearest document."""
    return answer_question(services, request, "vsearch", partial(ask, services, "vsearch"))


def answer_question(
    services: Services,
    request: Question,
    verb: str,
    find: Callable[[RetrievalRequest], F],
    more_keys: Callable[[F], Mapping[str, Any]] = lambda found: {},
) -> SearchAnswer:
    """
    Return the answer of *find*, and record it with a receipt.

    Args:
        verb: The name of the search in the receipt.
        more_keys: Returns the keys that only this search has.
    """
    began = perf_counter()
    asked = retrieval_request(services, request)
    found = find(asked)
    report_missing_vectors(services.vault.embeddings, verb, found)
    recorder = AnswerRecorder(services, found, asked, verb, (perf_counter() - began) * 1000)
    if request.explain:
        receipt = recorder.receipt()
        kept = recorder.record(lambda: receipt)
        return answer_of(
            found, services.settings, more_keys(found), with_bodies=request.body, explained=(receipt, kept)
        )
    recorder.record(recorder.receipt)
    return answer_of(
        found, services.settings, more_keys(found), compact=request.compact, with_bodies=request.body
    )


def ask(services: Services, verb: str, request: RetrievalRequest) -> Answer:
    """
    Return the answer of the pipeline *verb*.

    Raises:
        EmbeddingError: The pipeline searches vectors only, and the vault has none.
    """
    if verb == "vsearch":
        require_vectors(services.vault.embeddings, "found")
    if verb == "query" and request.ranking is Ranking.OPENCLAW:
        verb = "openclaw"
    return services.pipeline(verb)(request)


def retrieval_request(services: Services, request: Question) -> RetrievalRequest:
    """Return the request of the retrieval service; raise `InvalidInput` or `NotFound` for an invalid parameter."""
    given = {name: getattr(request, name) for name in OF_SOME if name in type(request).model_fields}
    tags, where = listed(request.tag), conditions_in(request.where)
    if tags or where:
        check_filters(services.vault.documents, services.vault.properties, tags, where)
    return read_request(
        request.query,
        now_ms=services.clock.now_ms(),
        zone=services.clock.zone(),
        limit=request.limit,
        collections=named_collections(services, request.collection),
        since=request.since,
        until=request.until,
        content_types=listed(request.content_type),
        tags=tags,
        where=where,
        floor=request.floor,
        as_of=request.as_of,
        ranking=Ranking(services.settings.ranking),
        show_all=request.show_all,
        unit=Unit(getattr(request, "unit", Unit.DOCUMENT)),
        **given,
    )


class AnswerRecorder:
    """Records an answer and its receipt."""

    def __init__(
        self, services: Services, answer: Answer, request: RetrievalRequest, verb: str, took_ms: float
    ) -> None:
        self._services = services
        self._answer = answer
        self._request = request
        self._verb = verb
        self._took_ms = took_ms

    def receipt(self) -> Receipt:
        """Return the receipt of the answer."""
        context = AnswerContext(self._verb, self._took_ms, VERSION)
        return self._services.explain(self._answer, self._request, context)

    def record(self, receipt: Callable[[], Receipt]) -> int | None:
        """Record the answer; return the id of the receipt, or ``None`` if no receipt is stored."""

        def packed() -> bytes:
            return pack(receipt())

        recalls, limit = self._services.recalls, self._request.limit
        kept = recalls.record(self._answer, self._verb, self._took_ms, limit=limit, receipt=packed)
        return kept if recalls.keeps_receipts else None
