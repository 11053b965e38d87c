"""``memory_retrieve``: routes each question to the suitable pipeline."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from types import MappingProxyType
from typing import Any

from clawmem.app.services.documents.timeline import sessions_with_outcome_first
from clawmem.app.services.retrieval.answer import Answer, Result
from clawmem.app.services.retrieval.models import NO_MODELS, AnswerCache, Models
from clawmem.app.services.retrieval.pipeline import Pipeline
from clawmem.app.services.retrieval.pipelines.query_plan import PlanAnswer, PlannedClause
from clawmem.app.services.retrieval.request import LEAST_COSINE, RetrievalRequest, rewind_request
from clawmem.app.services.retrieval.retrievers import (
    in_named_time,
    lexical_retriever,
    local_retrievers,
    vector_retriever,
)
from clawmem.app.services.retrieval.scheduling import RunRetrievers
from clawmem.app.services.retrieval.stages.by_date import newest_matching_first
from clawmem.app.services.retrieval.stages.cut import cut
from clawmem.app.services.retrieval.stages.graph import CachedQueryEmbedder, graph
from clawmem.app.services.retrieval.stages.intent import PURPOSE, classify, fuse_by_intent
from clawmem.app.services.retrieval.stages.judge import judge
from clawmem.app.services.retrieval.stages.rerank import reranking_stages
from clawmem.app.services.retrieval.stages.score import score
from clawmem.app.services.retrieval.stages.successors import successors_first
from clawmem.app.services.retrieval.stores import RetrievalStores
from clawmem.app.services.retrieval.work import Stage
from clawmem.domain.capture.handoff import is_empty
from clawmem.domain.retrieval.intent import Intent
from clawmem.domain.retrieval.routing import Route, route
from clawmem.domain.security.patterns import AnyCase
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import ClawmemError
from clawmem.ports.models import Embedder
from clawmem.ports.records import Fragment, FragmentKey, FragmentKind, Span
from clawmem.ports.sessions import Session, SessionStore

NO_STAGES: Mapping[str, Stage] = MappingProxyType({})


class IntentAnswer(Answer):
    """An answer with the intent that was recognized, and the confidence of that, in [0, 1]."""

    def __init__(self, found: Answer, intent: Intent, confidence: float) -> None:
        super().__init__(found.query, found.results, found.trace, answered=found.answered)
        self.intent = intent
        self.confidence = confidence


class IntentSearch(Pipeline):
    """A pipeline whose answer includes the intent."""

    def __call__(self, request: RetrievalRequest) -> IntentAnswer:
        """Return the answer to a question, with locations, snippets and the recognized intent."""
        found, work = self.answer(request)
        if work.intent is None:
            raise ValueError("an intent search has a stage that classifies the question")
        read = work.intent
        return IntentAnswer(found, read.intent, read.confidence)


def intent_search(
    stores: RetrievalStores,
    embedder: Embedder,
    *,
    intent: Intent | None = None,
    with_graph: bool = True,
    models: Models = NO_MODELS,
) -> IntentSearch:
    """
    Return a pipeline in which the intent decides the weights of retrievers and the relations to follow.

    Args:
        intent: The intent, if it is known.
        models: The generator classifies questions whose words leave the intent open; the reranker reorders the best
            candidates before scoring.
    """
    asked_once = CachedQueryEmbedder(embedder)
    legs = {
        "lexical": lexical_retriever(stores.lexical),
        "vector": vector_retriever(stores.vectors, stores.embeddings, asked_once),
    }
    cache = AnswerCache(stores.answers, models.clock, PURPOSE) if models.clock else None
    at_hand = partial(local_retrievers, stores.lexical, stores.vectors, embedder)
    return IntentSearch(
        stores,
        {
            "classify": classify(intent, models.generator, cache),
            "search": RunRetrievers(
                {name: in_named_time(leg) for name, leg in legs.items()}, at_hand=at_hand
            ),
            "fuse": fuse_by_intent(stores.documents),
            **(
                {"graph": graph(stores.embeddings, stores.relations, stores.entities, asked_once)}
                if with_graph
                else NO_STAGES
            ),
            **reranking_stages(stores.documents, stores.answers, models),
            "judge": judge(stores.documents, stores.lexical, stores.embeddings),
            "score": score(stores.documents),
            "successors first": successors_first(stores.documents, stores.successions),
            "newest first": newest_matching_first(stores.documents, stores.lexical, stores.successions),
            "cut": cut,
        },
        asks_models=models.are_asked,
    )


_NEXT = r"(?:next|to-?do|still\s+open|open|left|remaining|pending|follow-?ups?|offen|nächste\w*|siguientes?|pendientes?)"
_ABOUT_NEXT = AnyCase(rf"\b{_NEXT}\b")
_SAYS_NEXT = AnyCase(rf"\A[\W_]*{_NEXT}\b[^.\n:]{{0,20}}:")

Ask = Callable[[RetrievalRequest], Answer]
SEARCH, VSEARCH, QUERY = "search", "vsearch", "query"
WAYS: Mapping[Route, str] = MappingProxyType(
    {
        Route.TIMELINE: QUERY,  # in addition to the latest sessions
        Route.CAUSAL: "intent_search",
        Route.DISCOVERY: VSEARCH,
        Route.COMPLEX: "query_plan",
        Route.KEYWORD: SEARCH,
        Route.SEMANTIC: VSEARCH,
        Route.HYBRID: QUERY,
    }
)
HANDOFF = "handoff"
HANDOFF_QUERY = "what is the latest handoff"
HANDOFFS_LOOKED_AT = 20  # handoffs searched for one that is not empty
NOTHING_NEAR = "no vector is near enough; found by words"
NO_SESSIONS = "no session is recorded; the results are documents"


def with_next_steps(documents: DocumentStore, result: Result) -> Result:
    """Return *result* with its span set to the lines that name next steps; unchanged if there are none."""
    parts = documents.fragments(result.document.id)
    steps = _steps([one for one in parts if one.kind is FragmentKind.LINE])
    if not steps:
        return result
    first, last = steps[0], steps[-1]
    span = Span(
        FragmentKey(result.document.id, first.seq),
        first.kind,
        first.start_line,
        last.end_line,
        first.start,
        last.end,
        first.label,
        first.heading,
    )
    return result._replace(span=span, words=(), question=None, purpose=())


def _steps(lines: list[Fragment]) -> list[Fragment]:
    """Return the lines under the first heading about next steps, or else the first line that starts with one."""
    under = [one for one in lines if _ABOUT_NEXT.search(one.heading.rpartition(" › ")[2])]
    under = [one for one in under if not one.text.lstrip().startswith("#")]
    if under:
        return [one for one in under if one.heading == under[0].heading]
    return [one for one in lines if _SAYS_NEXT.search(one.text)][:1]


class RoutedAnswer(Answer):
    """
    An answer with the route that was taken.

    The causal route adds the recognized intent, the complex one the plan, and the timeline the latest sessions,
    newest first; sessions without an outcome come last.
    """

    def __init__(
        self,
        found: Answer,
        mode: Route,
        sessions: tuple[Session, ...] = (),
        *,
        intent: Intent | None = None,
        confidence: float | None = None,
        plan: tuple[PlannedClause, ...] = (),
    ) -> None:
        super().__init__(found.query, found.results, found.trace, answered=found.answered)
        self.mode = mode
        self.sessions = sessions
        self.intent = intent
        self.confidence = confidence
        self.plan = plan


class MemoryRetrieve:
    """Routes a question by its words, or by the mode that the caller chooses."""

    def __init__(
        self, documents: DocumentStore, sessions: SessionStore, ways: Mapping[str, Callable[[], Ask]]
    ) -> None:
        """
        Args:
            ways: Factories of ``search``, ``vsearch``, ``query``, ``intent_search`` and ``query_plan``, each called
                on first use; later questions reuse the pipeline.
        """
        self._documents = documents
        self._sessions = sessions
        self._ways = {name: cache(make) for name, make in ways.items()}

    def __call__(self, request: RetrievalRequest, mode: Route | None = None) -> RoutedAnswer:
        """Answer *request* by the route *mode*, or without one by the route that `route` returns."""
        chosen = mode or route(request.question.text)
        way = _way(chosen, request)
        found = self._by_meaning(request) if way == VSEARCH else self._ways[way]()(request)
        if chosen is Route.TIMELINE and request.question.is_handoff_asked:
            found = self._with_handoff(request, found)
        sessions = self._latest_sessions(request, found) if chosen is Route.TIMELINE else ()
        return RoutedAnswer(found, chosen, sessions, **_said_besides(found))

    def _by_meaning(self, request: RetrievalRequest) -> Answer:
        """Search by vectors; by words if no vector is near enough or vectors cannot be searched."""
        near_enough = request._replace(min_score=max(request.min_score, LEAST_COSINE))
        reason = NOTHING_NEAR
        try:
            found = self._ways[VSEARCH]()(near_enough)
            if found.results:
                return found
        except ClawmemError as error:
            reason = str(error)
        found = self._ways[SEARCH]()(request)
        found.trace.degraded["vector"] = reason
        return found

    def _with_handoff(self, request: RetrievalRequest, found: Answer) -> Answer:
        """Put the newest useful handoff first, with its next steps as the snippet."""
        if request.content_types or request.floor:
            return found
        handoffs = self._ways[QUERY]()(
            request.asking(HANDOFF_QUERY)._replace(
                content_types=frozenset({HANDOFF}), limit=HANDOFFS_LOOKED_AT
            )
        )
        useful = next((one for one in handoffs.results if not is_empty(one.body)), None)
        if useful is None:
            return found
        first = with_next_steps(self._documents, useful)
        others = [one for one in found.results if one.document.id != useful.document.id]
        results = (first, *others)[: request.limit]
        found.trace.stages[-1].notes.append("the newest useful handoff first")
        answered = max(found.answered or 0.0, first.confidence or 0.0)
        return Answer(found.query, results, found.trace, answered=answered)

    def _latest_sessions(self, request: RetrievalRequest, found: Answer) -> tuple[Session, ...]:
        until = rewind_request(request).scope.authored_until
        sessions = tuple(sessions_with_outcome_first(self._sessions, self._documents, request.limit, until))
        if not sessions:
            found.trace.degraded["sessions"] = NO_SESSIONS
        return sessions


def _way(chosen: Route, request: RetrievalRequest) -> str:
    """Return the pipeline of a route; a floor needs lexical evidence, so ``query`` replaces ``vsearch``."""
    way = WAYS[chosen]
    return QUERY if way == VSEARCH and request.floor else way


def _said_besides(found: Answer) -> dict[str, Any]:
    if isinstance(found, PlanAnswer):
        return {"plan": found.plan}
    if isinstance(found, IntentAnswer):
        return {"intent": found.intent, "confidence": found.confidence}
    return {}
