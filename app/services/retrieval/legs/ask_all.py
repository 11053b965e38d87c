"""The stage that asks every leg, side by side and under one deadline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from time import perf_counter
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.trace import Trace
from clawmem.app.services.retrieval.work import Work
from clawmem.ports.errors import ClawmemError, IndexUnavailable
from clawmem.ports.records import Hit

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

Hits = Mapping[str, Sequence[Hit]]


class LegAnswer(NamedTuple):
    """What a leg found, what was missing when it looked (empty when nothing was), and what it wants said."""

    hits: Hits
    degraded: str = ""
    note: str = ""


Leg = Callable[[RetrievalRequest, Work], LegAnswer]
Search = Callable[[], Sequence[Hit]]

DEADLINE_S = 5.0


def answered(searches: Mapping[str, Search]) -> LegAnswer:
    """Every search by its name; of an index that cannot be reached, what could be answered without it."""
    found: dict[str, Sequence[Hit]] = {}
    degraded = ""
    for name, search in searches.items():
        try:
            found[name] = search()
        except IndexUnavailable as error:
            found[name], degraded = error.partial, str(error)
    return LegAnswer(found, degraded)


class Threads:
    """
    A thread for each leg by its name, kept for the next question: its own connection to the vault is worth keeping.

    Not a common pool, which a leg that hangs would fill, question after question, until no leg answers.
    """

    def __init__(self) -> None:
        self._kept: dict[str, ThreadPoolExecutor] = {}

    def of(self, name: str) -> ThreadPoolExecutor:
        """The one that asks this leg."""
        from concurrent.futures import ThreadPoolExecutor

        if name not in self._kept:
            self._kept[name] = ThreadPoolExecutor(1, thread_name_prefix=f"leg-{name}")
        return self._kept[name]

    def close(self) -> None:
        """Let them end with what they have in hand."""
        for thread in self._kept.values():
            thread.shutdown(wait=False)
        self._kept.clear()


class AskAll:
    """
    The stage that asks every leg. A single one is asked on the spot, and its error is the answer's.

    Of several each has its own thread: one that is late or broken is named in ``trace.degraded``, and
    what the others found is the answer. When none answers, the first error of one is raised.

    Args:
        patience_s: With single legs, where it is less than *deadline_s*: a scan or a model cannot be stopped, but
            it can be left alone.
        threads: Of somebody who outlives this stage.
    """

    def __init__(
        self,
        legs: Mapping[str, Leg],
        deadline_s: float = DEADLINE_S,
        *,
        patience_s: Mapping[str, float] = MappingProxyType({}),
        threads: Threads | None = None,
    ) -> None:
        self._legs = legs
        self._deadline_s = deadline_s
        self._patience_s = patience_s
        self._threads = threads or Threads()

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
        waiting = {
            name: self._threads.of(name).submit(leg, request, work) for name, leg in self._legs.items()
        }
        found: dict[str, Sequence[Hit]] = {}
        for name, future in waiting.items():
            within = self._patience_s.get(name, self._deadline_s)
            try:
                found.update(_told(name, future.result(max(0.0, began + within - perf_counter())), trace))
            except TimeoutError:
                future.cancel()  # one that still waits for its turn is not wanted any more
                trace.degraded[name] = f"no answer within {within:g} s"
            except Exception as error:  # noqa: BLE001  a broken leg must not take the others' answer along
                trace.degraded[name] = str(error) or type(error).__name__
        if waiting.keys() <= trace.degraded.keys() and not found:
            raise self._first_error(waiting.values())
        return found

    def _first_error(self, legs: Iterable[Future[LegAnswer]]) -> BaseException:
        ended = [leg for leg in legs if leg.done() and not leg.cancelled()]
        late = ClawmemError(f"Nothing answered within {self._deadline_s:g} s. Try again in a moment.")
        return next((error for leg in ended if (error := leg.exception())), late)


def _told(name: str, answer: LegAnswer, trace: Trace) -> Hits:
    if answer.degraded:
        trace.degraded[name] = answer.degraded
    if answer.note:
        trace.stages[-1].notes.append(answer.note)
    return answer.hits
