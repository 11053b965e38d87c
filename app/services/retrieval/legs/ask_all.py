"""The stage that runs all retrievers concurrently with a common deadline."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from time import perf_counter
from types import MappingProxyType
from typing import NamedTuple

from clawmem.app.services.retrieval.legs.threads import NamedThreads, PendingResult
from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.trace import Trace
from clawmem.app.services.retrieval.work import Work
from clawmem.ports.errors import ClawmemError, IndexUnavailable
from clawmem.ports.records import Hit

Hits = Mapping[str, Sequence[Hit]]


class RetrieverResult(NamedTuple):
    """Hits of a retriever, the reason for incomplete hits (empty if complete), and a note for the trace."""

    hits: Hits
    degraded: str = ""
    note: str = ""


Retriever = Callable[[RetrievalRequest, Work], RetrieverResult]
Search = Callable[[], Sequence[Hit]]

DEADLINE_S = 5.0
LATE = "no answer within"  # start of the message about a retriever that exceeded its deadline


def answered(searches: Mapping[str, Search]) -> RetrieverResult:
    """Return the hits of every search by name; for an unavailable index, the hits that need no index."""
    found: dict[str, Sequence[Hit]] = {}
    degraded = ""
    for name, search in searches.items():
        try:
            found[name] = search()
        except IndexUnavailable as error:
            found[name], degraded = error.partial, str(error)
    return RetrieverResult(found, degraded)


class RunRetrievers:
    """
    The stage that runs all retrievers. A single one runs on the calling thread, and its error is raised.

    Each of several runs on its own thread, except local ones. A retriever that is late or fails is reported in
    ``trace.degraded``, and the others provide the answer. If none succeeds, the first error is raised.

    Args:
        patience_s: Deadlines of single retrievers below *deadline_s*. A scan or a model call cannot be aborted, but
            the stage stops waiting for it.
        threads: Threads whose owner outlives this stage.
        at_hand: Returns the retrievers to run on the calling thread. CPU-bound ones finish sooner one after the
            other than on threads that contend for the GIL.
    """

    def __init__(
        self,
        legs: Mapping[str, Retriever],
        deadline_s: float = DEADLINE_S,
        *,
        patience_s: Mapping[str, float] = MappingProxyType({}),
        threads: NamedThreads | None = None,
        at_hand: Callable[[], Collection[str]] = frozenset,
    ) -> None:
        self._legs = legs
        self._deadline_s = deadline_s
        self._patience_s = patience_s
        self._threads = threads or NamedThreads()
        self._at_hand = at_hand

    def __call__(self, request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        if len(self._legs) == 1:
            ((name, leg),) = self._legs.items()
            found = _told(name, leg(request, work), trace)
        else:
            found = self._side_by_side(request, work, trace)
        trace.hits.update({name: len(hits) for name, hits in found.items()})
        return work._replace(legs=found)

    def _side_by_side(self, request: RetrievalRequest, work: Work, trace: Trace) -> Hits:
        began = perf_counter()
        waiting = self._begun({name: partial(leg, request, work) for name, leg in self._legs.items()})
        found: dict[str, Sequence[Hit]] = {}
        for name, promise in waiting.items():
            within = self._patience_s.get(name, self._deadline_s)
            try:
                found.update(_told(name, promise.found(max(0.0, began + within - perf_counter())), trace))
            except TimeoutError:
                trace.degraded[name] = f"{LATE} {within:g} s"
            except Exception as error:  # noqa: BLE001  one failing retriever must not discard the others' results
                trace.degraded[name] = str(error) or type(error).__name__
        if waiting.keys() <= trace.degraded.keys() and not found:
            raise self._first_error(waiting.values())
        return found

    def _begun(
        self, legs: Mapping[str, Callable[[], RetrieverResult]]
    ) -> dict[str, PendingResult[RetrieverResult]]:
        """Return a promise per retriever in their order; local ones are finished while the others are running."""
        here = self._at_hand()
        waiting = {
            name: PendingResult(leg) if name in here else self._threads.ask(name, leg)
            for name, leg in legs.items()
        }
        for name, promise in waiting.items():
            if name in here:
                promise.keep()
        return waiting

    def _first_error(self, legs: Iterable[PendingResult[RetrieverResult]]) -> BaseException:
        late = ClawmemError(f"Nothing answered within {self._deadline_s:g} s. Try again in a moment.")
        return next((leg.error for leg in legs if leg.error), late)


def _told(name: str, answer: RetrieverResult, trace: Trace) -> Hits:
    if answer.degraded:
        trace.degraded[name] = answer.degraded
    if answer.note:
        trace.stages[-1].notes.append(answer.note)
    return answer.hits
