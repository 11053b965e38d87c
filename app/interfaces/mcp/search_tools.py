"""Tools that ask: memory_retrieve, query, search, vsearch, intent_search, query_plan."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, cast

from mcp.types import CallToolResult
from pydantic import Field

from clawmem.app.interfaces.cli.retrieval import Question, ask, given_to
from clawmem.app.interfaces.mcp import schemas
from clawmem.app.interfaces.mcp.calling import answer
from clawmem.app.interfaces.mcp.rendering import answer_fields, answer_text, session_lines, session_record
from clawmem.app.records.parameters import (
    AsOf,
    CandidateLimit,
    Collections,
    Compact,
    Diverse,
    Floor,
    Limit,
    MinScore,
    Purpose,
    Query,
    ShowAll,
    Since,
    Until,
    Vault,
)
from clawmem.app.serve.dispatcher import Dispatcher
from clawmem.app.services.retrieval.answer import Answer
from clawmem.app.services.retrieval.request import LEAST_COSINE
from clawmem.domain.retrieval.intent import Intent
from clawmem.domain.retrieval.routing import Route

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.services.retrieval.pipelines.intent_search import IntentAnswer
    from clawmem.app.services.retrieval.pipelines.memory_retrieve import RoutedAnswer
    from clawmem.app.services.retrieval.pipelines.query_plan import PlanAnswer
    from clawmem.app.services.retrieval.request import RetrievalRequest

F = TypeVar("F", bound=Answer)
Ask = Callable[["Services", "RetrievalRequest"], F]

Mode = Literal["auto", "timeline", "causal", "discovery", "complex", "keyword", "semantic", "hybrid"]
IntentName = Literal["WHY", "WHEN", "ENTITY", "WHAT"]


class SearchTools:
    """Every way of asking; what is asked is written down as the command line does."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher

    async def memory_retrieve(
        self,
        query: Query,
        mode: Annotated[
            Mode, Field(description="The way to look; auto reads it from the question.")
        ] = "auto",
        limit: Limit = 10,
        compact: Compact = True,
        collection: Collections = "",
        since: Since = "",
        until: Until = "",
        as_of: AsOf = "",
        floor: Floor = 0.0,
        show_all: ShowAll = False,
        vault: Vault = None,
    ) -> Annotated[CallToolResult, schemas.Retrieved]:
        """
        Find what the user's notes and earlier sessions say, by whichever way the question calls for. Begin here.

        Takes why-questions along causes, "last session" to the sessions, several questions apart, names to words.
        """
        question = Question([query], limit, [collection], since=since, until=until, as_of=as_of, floor=floor)
        question = question._replace(show_all=show_all)
        route = None if mode == "auto" else Route(mode)
        found = await self._found(
            "memory_retrieve",
            question,
            lambda services, asked: services.pipelines.memory_retrieve(asked, route),
            vault,
        )
        said = schemas.Retrieved(**answer_fields(found, compact=compact), **_way(found))
        head = [f"[routed: {found.mode}]", *session_lines(said.sessions or ())]
        return answer("\n".join([*head, answer_text(found, compact=compact)]), said)

    async def query(
        self,
        query: Query,
        limit: Limit = 10,
        minScore: MinScore = 0.0,  # noqa: N803  as clients know it
        collection: Collections = "",
        compact: Compact = True,
        diverse: Diverse = True,
        intent: Purpose = "",
        candidateLimit: CandidateLimit = None,  # noqa: N803
        since: Since = "",
        until: Until = "",
        as_of: AsOf = "",
        floor: Floor = 0.0,
        show_all: ShowAll = False,
        vault: Vault = None,
    ) -> Annotated[CallToolResult, schemas.Answer]:
        """Find by words and meaning together, compared closely: the best single answer there is."""
        question = Question([query], limit, [collection], minScore, since=since, until=until)
        chosen = question._replace(as_of=as_of, floor=floor, intent=intent, diverse=diverse)
        chosen = chosen._replace(candidate_limit=candidateLimit, show_all=show_all)
        return await self._plain("query", chosen, compact, vault)

    async def search(
        self,
        query: Query,
        limit: Limit = 10,
        minScore: MinScore = 0.0,  # noqa: N803
        collection: Collections = "",
        compact: Compact = True,
        since: Since = "",
        until: Until = "",
        as_of: AsOf = "",
        floor: Floor = 0.0,
        show_all: ShowAll = False,
        vault: Vault = None,
    ) -> Annotated[CallToolResult, schemas.Answer]:
        """Find by words: for names, identifiers, error messages, file names. The quickest."""
        question = Question([query], limit, [collection], minScore, since=since, until=until)
        return await self._plain(
            "search", question._replace(as_of=as_of, floor=floor, show_all=show_all), compact, vault
        )

    async def vsearch(
        self,
        query: Query,
        limit: Limit = 10,
        minScore: MinScore = LEAST_COSINE,  # noqa: N803
        collection: Collections = "",
        compact: Compact = True,
        since: Since = "",
        until: Until = "",
        as_of: AsOf = "",
        vault: Vault = None,
    ) -> Annotated[CallToolResult, schemas.Answer]:
        """Find by meaning alone: for what may be called by other words. Something is always nearest."""
        question = Question([query], limit, [collection], minScore, since=since, until=until, as_of=as_of)
        return await self._plain("vsearch", question, compact, vault)

    async def intent_search(
        self,
        query: Query,
        limit: Limit = 10,
        force_intent: Annotated[
            IntentName | None, Field(description="What it asks for, where that is known.")
        ] = None,
        enable_graph_traversal: Annotated[
            bool, Field(description="Follow relations from document to document.")
        ] = True,
        compact: Compact = True,
        collection: Collections = "",
        since: Since = "",
        until: Until = "",
        as_of: AsOf = "",
        floor: Floor = 0.0,
        show_all: ShowAll = False,
        vault: Vault = None,
    ) -> Annotated[CallToolResult, schemas.IntentAnswer]:
        """Find by what the question asks for: for why, when and who, along the relations of documents."""
        question = Question([query], limit, [collection], since=since, until=until, as_of=as_of, floor=floor)
        question = question._replace(show_all=show_all)
        intent = Intent(force_intent) if force_intent else None

        def work(services: Services, asked: RetrievalRequest) -> IntentAnswer:
            return services.pipelines.intended(intent, with_graph=enable_graph_traversal)(asked)

        found = await self._found("intent_search", question, work, vault)
        said = schemas.IntentAnswer(
            **answer_fields(found, compact=compact), intent=found.intent, confidence=found.confidence
        )
        head = f"asks for: {found.intent} ({found.confidence:.2f})"
        return answer(f"{head}\n{answer_text(found, compact=compact)}", said)

    async def query_plan(
        self,
        query: Query,
        limit: Limit = 10,
        compact: Compact = True,
        collection: Collections = "",
        since: Since = "",
        until: Until = "",
        as_of: AsOf = "",
        floor: Floor = 0.0,
        show_all: ShowAll = False,
        vault: Vault = None,
    ) -> Annotated[CallToolResult, schemas.PlanAnswer]:
        """Find for a question of several topics: it is taken apart and its parts are answered together."""
        question = Question([query], limit, [collection], since=since, until=until, as_of=as_of, floor=floor)
        question = question._replace(show_all=show_all)

        def work(services: Services, asked: RetrievalRequest) -> PlanAnswer:
            return services.pipelines.query_plan(asked)

        found = await self._found("query_plan", question, work, vault)
        plan = [schemas.Clause(**_clause(one)) for one in found.plan]
        said = schemas.PlanAnswer(**answer_fields(found, compact=compact), plan=plan)
        head = [f"{one.priority}. {one.type}: {one.query} ({one.result_count})" for one in plan]
        return answer("\n".join([*head, answer_text(found, compact=compact)]), said)

    async def _plain(
        self, verb: str, question: Question, compact: bool, vault: str | None
    ) -> Annotated[CallToolResult, schemas.Answer]:
        found = await self._found(verb, question, lambda services, asked: ask(services, verb, asked), vault)
        said = schemas.Answer(**answer_fields(found, compact=compact))
        return answer(answer_text(found, compact=compact), said)

    async def _found(self, verb: str, question: Question, work: Ask[F], vault: str | None) -> F:
        def recorded(services: Services) -> F:
            given = given_to(services, verb, question, partial(work, services))
            given.record(given.receipt)
            return cast("F", given.answer)

        return await self._dispatcher.read(recorded, vault)


def _way(found: RoutedAnswer) -> dict[str, Any]:
    return {
        "mode": found.mode,
        "intent": found.intent,
        "confidence": found.confidence,
        "plan": [schemas.Clause(**_clause(one)) for one in found.plan] or None,
        "sessions": [session_record(one) for one in found.sessions] or None,
    }


def _clause(clause: Any) -> dict[str, Any]:
    return {name: getattr(clause, name) for name in schemas.Clause.model_fields}
