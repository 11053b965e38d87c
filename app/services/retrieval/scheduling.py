"""Retrievers, and the stage that runs them concurrently with a common deadline."""

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from queue import SimpleQueue
from time import perf_counter
from types import MappingProxyType
from typing import Any, NamedTuple, Self, TypeVar

from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.work import Stage, Trace, Work
from clawmem.ports.errors import ClawmemError, IndexUnavailable
from clawmem.ports.records import Hit

Found = TypeVar("Found")
Task = tuple[Future[Any], Callable[[], Any]]

DEADLINE_S = 5.0
LATE = "no answer within"  # start of the message about a retriever that exceeded its deadline


class NamedThreads:
    """
    One thread per name, reused by later questions: each has its own connection to the vault.

    This is no common pool, because hanging retrievers would fill a pool until none answers. The threads are daemons, so
    that a hanging retriever does not keep the process alive.
    """

    def __init__(self) -> None:
        self._queues: dict[str, SimpleQueue[Task | None]] = {}

    def ask(self, name: str, work: Callable[[], Found]) -> Future[Found]:
        """Queue *work* on the thread of that *name*."""
        if name not in self._queues:
            self._queues[name] = SimpleQueue()
            threading.Thread(
                target=_work_off, args=(self._queues[name],), name=f"leg-{name}", daemon=True
            ).start()
        future: Future[Found] = Future()
        self._queues[name].put((future, work))
        return future

    def close(self) -> None:
        """Let the threads finish their current work and end."""
        for queue in self._queues.values():
            queue.put(None)
        self._queues.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    __del__ = close


def _work_off(queue: SimpleQueue[Task | None]) -> None:
    while task := queue.get():
        _run(*task)
        del task  # releases its result before waiting for the next question


def _run(future: Future[Found], work: Callable[[], Found]) -> None:
    if future.set_running_or_notify_cancel():
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001  raised in the waiting thread
            future.set_exception(error)


class RetrieverResult(NamedTuple):
    """
    Hits of a retriever, the reason for incomplete hits (empty if complete), and a note for the trace.

    ``space`` is the fingerprint of the embedder whose vectors were searched.
    """

    hits: Mapping[str, Sequence[Hit]]
    degraded: str = ""
    note: str = ""
    space: str = ""


Retriever = Callable[[RetrievalRequest, Work], RetrieverResult]
Search = Callable[[], Sequence[Hit]]


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


def run_retrievers(
    legs: Mapping[str, Retriever],
    deadline_s: float = DEADLINE_S,
    *,
    patience_s: Mapping[str, float] = MappingProxyType({}),
    threads: NamedThreads | None = None,
    at_hand: Callable[[], Collection[str]] = frozenset,
) -> Stage:
    """
    Return the stage that runs all retrievers. A single one runs on the calling thread, and its error is raised.

    Each of several runs on its own thread, except local ones. A retriever that is late or fails is reported in
    ``trace.degraded``, and the others provide the answer. If none of them searched anything, the first error is raised.

    Args:
        patience_s: Deadlines of single retrievers below *deadline_s*. A scan or a model call cannot be aborted, but
            the stage stops waiting for it.
        threads: Threads whose owner outlives this stage.
        at_hand: Returns the retrievers to run on the calling thread. CPU-bound ones finish sooner one after the
            other than on threads that contend for the GIL.
    """
    own_threads = threads or NamedThreads()

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        began, local = perf_counter(), legs if len(legs) == 1 else at_hand()
        calls = {name: partial(leg, request, work) for name, leg in legs.items()}
        waiting = {
            name: Future() if name in local else own_threads.ask(name, call) for name, call in calls.items()
        }
        for name, call in calls.items():
            if name in local:
                _run(waiting[name], call)
        found: dict[str, Sequence[Hit]] = {}
        space = ""
        first_error: Exception | None = None
        for name, future in waiting.items():
            within = patience_s.get(name, deadline_s)
            try:
                answer = future.result(max(0.0, began + within - perf_counter()))
                found.update(answer.hits)
                space = space or answer.space
                if answer.degraded:
                    trace.degraded[name] = answer.degraded
                if answer.note:
                    trace.note(answer.note)
            except TimeoutError:
                future.cancel()  # effective if the call is still queued
                trace.degraded[name] = f"{LATE} {within:g} s"
            except Exception as error:  # noqa: BLE001  one failing retriever must not discard the others' results
                first_error = first_error or error
                trace.degraded[name] = str(error) or type(error).__name__
        if trace.degraded and not found:
            # Who did not fail had nothing to search, such as no time in the question.
            raise first_error or ClawmemError(
                f"Nothing answered within {deadline_s:g} s. Try again in a moment."
            )
        trace.hits.update({name: len(hits) for name, hits in found.items()})
        return work._replace(legs=found, space=space)

    return stage
