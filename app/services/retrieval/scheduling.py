"""Retrievers, and the stage that runs them concurrently with a common deadline."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from queue import SimpleQueue
from time import perf_counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Generic, NamedTuple, Self, TypeVar

from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.work import Trace, Work
from clawmem.ports.errors import ClawmemError, IndexUnavailable
from clawmem.ports.records import Hit

if TYPE_CHECKING:
    Waiting = SimpleQueue[Callable[[], None] | None]


Found = TypeVar("Found")


class PendingResult(Generic[Found]):
    """Result or error of work that a thread does."""

    def __init__(self, work: Callable[[], Found]) -> None:
        self._work = work
        self._ended = threading.Event()
        self._is_wanted = True
        self._found: list[Found] = []
        self.error: BaseException | None = None

    def keep(self) -> None:
        """Do the work, unless it was abandoned."""
        try:
            if self._is_wanted:
                self._found.append(self._work())
        except BaseException as error:  # noqa: BLE001  raised in the waiting thread
            self.error = error
        self._ended.set()

    def found(self, within_s: float) -> Found:
        """
        Return the result of the work, or raise its error.

        Raises:
            TimeoutError: no result within *within_s* seconds; work that has not begun is abandoned.
        """
        if not self._ended.wait(within_s):
            self._is_wanted = False
            raise TimeoutError
        if self.error:
            raise self.error
        return self._found[0]


class NamedThreads:
    """
    One thread per name, reused by later questions: each has its own connection to the vault.

    This is no common pool, because hanging retrievers would fill a pool until none answers.
    """

    def __init__(self) -> None:
        self._kept: dict[str, Waiting] = {}

    def ask(self, name: str, work: Callable[[], Found]) -> PendingResult[Found]:
        """Queue *work* on the thread of that *name*."""
        promise = PendingResult(work)
        self._of(name).put(promise.keep)
        return promise

    def close(self) -> None:
        """Let the threads finish their current work and end."""
        for waiting in self._kept.values():
            waiting.put(None)
        self._kept.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    __del__ = close

    def _of(self, name: str) -> Waiting:
        if name not in self._kept:
            waiting = self._kept[name] = SimpleQueue()
            # A daemon thread, so that a hanging retriever does not keep the process alive.
            threading.Thread(target=_work_off, args=(waiting,), name=f"leg-{name}", daemon=True).start()
        return self._kept[name]


def _work_off(waiting: Waiting) -> None:
    while work := waiting.get():
        work()
        del work  # releases its result before waiting for the next question


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
    ``trace.degraded``, and the others provide the answer. If none of them searched anything, the first error is raised.

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
        if (
            trace.degraded and not found
        ):  # whoever did not fail had nothing to search, such as no time in the question
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
