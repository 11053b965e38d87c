"""``memory_retrieve``: routes each question to the suitable pipeline."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType

from clawmem.app.services.documents.timeline import sessions_with_outcome_first
from clawmem.app.services.retrieval.answer import Answer, Result
from clawmem.app.services.retrieval.request import LEAST_COSINE, RetrievalRequest, rewind_request
from clawmem.domain.capture.handoff import is_empty
from clawmem.domain.retrieval.routing import Route, route
from clawmem.domain.security.patterns import AnyCase
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import ClawmemError
from clawmem.ports.records import FragmentKey, FragmentKind, Span
from clawmem.ports.sessions import SessionStore

Ask = Callable[[RetrievalRequest], Answer]
SEARCH, VSEARCH, QUERY = "search", "vsearch", "query"
PIPELINES: Mapping[Route, str] = MappingProxyType(
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

_NEXT = r"(?:next|to-?do|still\s+open|open|left|remaining|pending|follow-?ups?|offen|nächste\w*|siguientes?|pendientes?)"
_ABOUT_NEXT = AnyCase(rf"\b{_NEXT}\b")
_SAYS_NEXT = AnyCase(rf"\A[\W_]*{_NEXT}\b[^.\n:]{{0,20}}:")


class MemoryRetrieve:
    """
    Routes a question by its words, or by the mode that the caller chooses.

    Args:
        pipelines: Factories of ``search``, ``vsearch``, ``query``, ``intent_search`` and ``query_plan``, each called
            on first use; later questions reuse the pipeline.
    """

    def __init__(
        self, documents: DocumentStore, sessions: SessionStore, pipelines: Mapping[str, Callable[[], Ask]]
    ) -> None:
        self._documents = documents
        self._sessions = sessions
        self._pipelines = {name: cache(make) for name, make in pipelines.items()}

    def __call__(self, request: RetrievalRequest, mode: Route | None = None) -> Answer:
        """Answer *request* by the route *mode*, or without one by the route that `route` returns."""
        chosen = mode or route(request.question.text)
        name = PIPELINES[chosen]
        if name == VSEARCH and request.floor:
            name = QUERY  # a floor needs lexical evidence
        answer = self._by_meaning(request) if name == VSEARCH else self._pipelines[name]()(request)
        if chosen is not Route.TIMELINE:
            return replace(answer, mode=chosen)
        if request.question.is_handoff_asked:
            answer = self._with_handoff(request, answer)
        until = rewind_request(request).scope.authored_until
        sessions = tuple(sessions_with_outcome_first(self._sessions, self._documents, request.limit, until))
        if not sessions:
            answer.trace.degraded["sessions"] = NO_SESSIONS
        return replace(answer, mode=chosen, sessions=sessions)

    def _by_meaning(self, request: RetrievalRequest) -> Answer:
        """Search by vectors; by words if no vector is near enough or vectors cannot be searched."""
        near_enough = request._replace(min_score=max(request.min_score, LEAST_COSINE))
        reason = NOTHING_NEAR
        try:
            answer = self._pipelines[VSEARCH]()(near_enough)
            if answer.results:
                return answer
        except ClawmemError as error:
            reason = str(error)
        answer = self._pipelines[SEARCH]()(request)
        answer.trace.degraded["vector"] = reason
        return answer

    def _with_handoff(self, request: RetrievalRequest, answer: Answer) -> Answer:
        """Put the newest useful handoff first, with its next steps as the snippet."""
        if request.content_types or request.floor:
            return answer
        handoffs = self._pipelines[QUERY]()(
            request.asking(HANDOFF_QUERY)._replace(
                content_types=frozenset({HANDOFF}), limit=HANDOFFS_LOOKED_AT
            )
        )
        useful = next((result for result in handoffs.results if not is_empty(result.body)), None)
        if useful is None:
            return answer
        others = [result for result in answer.results if result.document.id != useful.document.id]
        answer.trace.note("the newest useful handoff first")
        return replace(
            answer,
            results=(with_next_steps(self._documents, useful), *others)[: request.limit],
            answered=max(answer.answered or 0.0, useful.confidence or 0.0),
        )


def with_next_steps(documents: DocumentStore, result: Result) -> Result:
    """
    Return *result* with its span set to the lines that name next steps; unchanged if there are none.

    These are the lines under the first heading about next steps, or else the first line that starts with one.
    """
    lines = [f for f in documents.fragments(result.document.id) if f.kind is FragmentKind.LINE]
    under = [
        line
        for line in lines
        if _ABOUT_NEXT.search(line.heading.rpartition(" › ")[2]) and not line.text.lstrip().startswith("#")
    ]
    steps = [line for line in under if line.heading == under[0].heading]
    steps = steps or [line for line in lines if _SAYS_NEXT.search(line.text)][:1]
    if not steps:
        return result
    first, last = steps[0], steps[-1]
    key = FragmentKey(result.document.id, first.seq)
    lines_shown = (first.start_line, last.end_line, first.start, last.end)
    span = Span(key, first.kind, *lines_shown, first.label, first.heading)
    return result._replace(span=span, words=(), question=None, purpose=())
