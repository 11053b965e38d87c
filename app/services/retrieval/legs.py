"""The search legs: what each index says, side by side and under one deadline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from clawmem.app.services.retrieval.request import RetrievalRequest, Trace, Unit, Work
from clawmem.domain.retrieval.grains import DOCUMENT_WEIGHTS, LINE_WEIGHTS
from clawmem.ports.embedder import Embedder
from clawmem.ports.errors import ClawmemError, IndexUnavailable, ModelMismatch
from clawmem.ports.records import Grain, Hit, LexicalQuery
from clawmem.ports.vault import Vault

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

Hits = Mapping[str, Sequence[Hit]]


class LegAnswer(NamedTuple):
    """What a leg found, and what was missing when it looked (empty when nothing was)."""

    hits: Hits
    degraded: str = ""


Leg = Callable[[RetrievalRequest], LegAnswer]
Search = Callable[[], Sequence[Hit]]

# Deep enough that the top of the list does not depend on how many answers were asked for.
DEPTH = {Grain.LINE: 200, Grain.PASSAGE: 100, Grain.SECTION: 100, Grain.DOCUMENT: 100}
VECTOR_DEPTH = 100
VECTOR_ALONE_DEPTH = 600  # fragments; several lie in one document, and nothing else adds documents
DEADLINE_S = 5.0

PRECISE = "precise"
VECTOR = "vector"


def lexical_leg(vault: Vault) -> Leg:
    """Words: any of them at every grain that has a weight, and all of them together where that was meant."""

    def search(request: RetrievalRequest) -> LegAnswer:
        def at(query: LexicalQuery, grain: Grain) -> Search:
            return lambda: vault.lexical.search(query, grain, DEPTH[grain], request.scope)

        weights = DOCUMENT_WEIGHTS if request.unit is Unit.DOCUMENT else LINE_WEIGHTS
        searches = {
            grain.value: at(request.forms.relaxed, grain) for grain in Grain if grain.value in weights
        }
        if request.forms.precise:
            grain = Grain.DOCUMENT if request.unit is Unit.DOCUMENT else Grain.LINE
            searches[PRECISE] = at(request.forms.precise, grain)
        return answered(searches)

    return search


def vector_leg(vault: Vault, embedder: Embedder, depth: int = VECTOR_DEPTH) -> Leg:
    """Meaning: the fragments nearest to the question. Raises `ModelMismatch` rather than compare two spaces."""

    def search(request: RetrievalRequest) -> LegAnswer:
        stored = vault.embeddings.fingerprint()
        if stored is None or not request.forms.words:
            return LegAnswer({})  # punctuation has a vector too, near to nothing in particular
        if stored != embedder.fingerprint:
            raise ModelMismatch(stored, embedder.fingerprint)
        vector = embedder.embed_query(request.query)
        return answered({VECTOR: lambda: vault.vectors.search(vector, depth, request.scope)})

    return search


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

    Of several each has its own thread: one that is late or broken is named in ``trace.degraded``, and
    what the others found is the answer. When none answers, the first error of one is raised.
    """

    def __init__(self, legs: Mapping[str, Leg], deadline_s: float = DEADLINE_S) -> None:
        self._legs = legs
        self._deadline_s = deadline_s

    def __call__(self, request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        if len(self._legs) == 1:
            ((name, leg),) = self._legs.items()
            found = _told(name, leg(request), trace)
        else:
            found = self._side_by_side(request, trace)
        trace.hits.update({name: len(hits) for name, hits in found.items()})
        return Work(legs=found)

    @cached_property
    def _threads(self) -> Mapping[str, ThreadPoolExecutor]:
        from concurrent.futures import ThreadPoolExecutor

        # Kept for the next question: a thread's own connection to the vault is worth keeping. Not a common
        # pool, which a leg that hangs would fill, question after question, until no leg answers.
        return {name: ThreadPoolExecutor(1, thread_name_prefix=f"leg-{name}") for name in self._legs}

    def _side_by_side(self, request: RetrievalRequest, trace: Trace) -> Hits:
        until = perf_counter() + self._deadline_s
        waiting = {name: self._threads[name].submit(leg, request) for name, leg in self._legs.items()}
        found: dict[str, Sequence[Hit]] = {}
        for name, future in waiting.items():
            try:
                found.update(_told(name, future.result(max(0.0, until - perf_counter())), trace))
            except TimeoutError:
                future.cancel()  # one that still waits for its turn is not wanted any more
                trace.degraded[name] = f"no answer within {self._deadline_s:g} s"
            except Exception as error:  # noqa: BLE001  a broken leg must not take the others' answer along
                trace.degraded[name] = str(error) or type(error).__name__
        if len(trace.degraded) == len(waiting) and not found:
            raise self._first_error(waiting.values())
        return found

    def _first_error(self, legs: Iterable[Future[LegAnswer]]) -> BaseException:
        ended = [leg for leg in legs if leg.done() and not leg.cancelled()]
        late = ClawmemError(f"Nothing answered within {self._deadline_s:g} s. Try again in a moment.")
        return next((error for leg in ended if (error := leg.exception())), late)


def _told(name: str, answer: LegAnswer, trace: Trace) -> Hits:
    if answer.degraded:
        trace.degraded[name] = answer.degraded
    return answer.hits
