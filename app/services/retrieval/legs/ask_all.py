"""The stage that asks every leg, side by side and under one deadline."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from time import perf_counter
from types import MappingProxyType

from clawmem.app.services.retrieval.legs.threads import Promise, Threads
from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.trace import Trace
from clawmem.app.services.retrieval.work import Work
from clawmem.ports.errors import ClawmemError, IndexUnavailable
from clawmem.ports.named_tuple import NamedTuple
from clawmem.ports.records import Hit

Hits = Mapping[str, Sequence[Hit]]


class LegAnswer(NamedTuple):
    """What a leg found, what was missing when it looked (empty when nothing was), and what it wants said."""

    hits: Hits
    degraded: str = ""
    note: str = ""


Leg = Callable[[RetrievalRequest, Work], LegAnswer]
Search = Callable[[], Sequence[Hit]]

DEADLINE_S = 5.0
LATE = "no answer within"  # how the reason begins when a leg is not waited for any longer


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


class AskAll:
    """
    The stage that asks every leg. A single one is asked on the spot, and its error is the answer's.

    Of several each has its own thread, but for those at hand: one that is late or broken is named in ``trace.degraded``, and
    what the others found is the answer. When none answers, the first error of one is raised.

    Args:
        patience_s: With single legs, where it is less than *deadline_s*: a scan or a model cannot be stopped, but
            it can be left alone.
        threads: Of somebody who outlives this stage.
        at_hand: The legs that are asked on the spot, as things are now: what only computes is done sooner one after the
            other than by threads, which hand the interpreter to and fro.
    """

    def __init__(
        self,
        legs: Mapping[str, Leg],
        deadline_s: float = DEADLINE_S,
        *,
        patience_s: Mapping[str, float] = MappingProxyType({}),
        threads: Threads | None = None,
        at_hand: Callable[[], Collection[str]] = frozenset,
    ) -> None:
        self._legs = legs
        self._deadline_s = deadline_s
        self._patience_s = patience_s
        self._threads = threads or Threads()
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
            except Exception as error:  # noqa: BLE001  a broken leg must not take the others' answer along
                trace.degraded[name] = str(error) or type(error).__name__
        if waiting.keys() <= trace.degraded.keys() and not found:
            raise self._first_error(waiting.values())
        return found

    def _begun(self, legs: Mapping[str, Callable[[], LegAnswer]]) -> dict[str, Promise[LegAnswer]]:
        """What each will have found, in their order; those at hand have done so, while the others are at it."""
        here = self._at_hand()
        waiting = {
            name: Promise(leg) if name in here else self._threads.ask(name, leg) for name, leg in legs.items()
        }
        for name, promise in waiting.items():
            if name in here:
                promise.keep()
        return waiting

    def _first_error(self, legs: Iterable[Promise[LegAnswer]]) -> BaseException:
        late = ClawmemError(f"Nothing answered within {self._deadline_s:g} s. Try again in a moment.")
        return next((leg.error for leg in legs if leg.error), late)


def _told(name: str, answer: LegAnswer, trace: Trace) -> Hits:
    if answer.degraded:
        trace.degraded[name] = answer.degraded
    if answer.note:
        trace.stages[-1].notes.append(answer.note)
    return answer.hits
