"""Concurrent search for the clauses of a plan, and fusion of their results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING

from clawmem.app.services.retrieval.pipeline import Pipeline
from clawmem.app.services.retrieval.request import RetrievalRequest, Unit
from clawmem.app.services.retrieval.work import Candidate, Stage, Trace, Work
from clawmem.domain.retrieval.fusion import min_max, rrf
from clawmem.domain.retrieval.planning import MAX_CLAUSES, Clause, ClauseKind
from clawmem.ports.errors import ClawmemError
from clawmem.ports.records import Hit

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor


DEPTH = {ClauseKind.LEXICAL: 20, ClauseKind.VECTOR: 20, ClauseKind.GRAPH: 15}  # results per clause

Clauses = Mapping[str, Clause]
Found = tuple[Work, Trace]


def named(clauses: Sequence[Clause]) -> dict[str, Clause]:
    """Return the clauses by their names in the trace, such as ``clause 1 (bm25)``."""
    return {f"clause {n} ({clause.kind.value})": clause for n, clause in enumerate(clauses, start=1)}


class AskClauses:
    """
    Searches for up to four clauses concurrently, each on its own thread, with a common deadline.

    A clause that is late or fails is reported in ``trace.degraded``. If none succeeds, the first error is raised.
    """

    def __init__(self, by_kind: Mapping[ClauseKind, Pipeline], deadline_s: float) -> None:
        self._by_kind = by_kind
        self._deadline_s = deadline_s

    def stage(self, clauses: Clauses) -> Stage:
        """Return the stage that searches for *clauses* and puts the hits of each into ``legs`` under its name."""

        def ask(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
            found = self._side_by_side(clauses, request, trace)
            trace.hits.update({name: len(hits) for name, hits in found.items()})
            return work._replace(legs=found)

        return ask

    @cached_property
    def _threads(self) -> Sequence[ThreadPoolExecutor]:
        from concurrent.futures import ThreadPoolExecutor

        # One reused thread per clause instead of a common pool; see `RunRetrievers` for the reasons.
        return [ThreadPoolExecutor(1, thread_name_prefix=f"clause-{n}") for n in range(MAX_CLAUSES)]

    def _side_by_side(
        self, clauses: Clauses, request: RetrievalRequest, trace: Trace
    ) -> dict[str, Sequence[Hit]]:
        until = perf_counter() + self._deadline_s
        waiting = {
            name: thread.submit(self._ask, clause, request)
            for thread, (name, clause) in zip(self._threads, clauses.items(), strict=False)
        }
        found: dict[str, Sequence[Hit]] = {}
        for name, future in waiting.items():
            try:
                found[name] = _told(name, future.result(max(0.0, until - perf_counter())), trace)
            except TimeoutError:
                future.cancel()  # effective if the clause is still queued
                trace.degraded[name] = f"no answer within {self._deadline_s:g} s"
            except Exception as error:  # noqa: BLE001  one failing clause must not discard the results of the others
                trace.degraded[name] = str(error) or type(error).__name__
        if waiting and not found:
            raise self._first_error(waiting.values())
        return found

    def _ask(self, clause: Clause, request: RetrievalRequest) -> Found:
        depth = DEPTH[clause.kind]
        asked = request.asking(clause.query)._replace(limit=depth, min_score=0.0)
        return self._by_kind[clause.kind].rank(asked)

    def _first_error(self, clauses: Iterable[Future[Found]]) -> BaseException:
        ended = [clause for clause in clauses if clause.done() and not clause.cancelled()]
        late = ClawmemError(f"Nothing answered within {self._deadline_s:g} s. Try again in a moment.")
        return next((error for clause in ended if (error := clause.exception())), late)


def merge_clauses(clauses: Clauses) -> Stage:
    """
    Return the stage that fuses the hits of all clauses by reciprocal rank, weighted by their importance.

    Only ranks count, as scores of words, vectors and the graph are not comparable. Relevance is the share of the
    highest sum: it covers [0, 1], so metadata has the same influence as in other pipelines.
    """

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        places = {name: _places(hits, request.unit) for name, hits in work.legs.items()}
        weights = {name: float(clauses[name].weight) for name in places}
        total = dict(rrf({name: list(place) for name, place in places.items()}, weights))
        return work.with_candidates(
            [_candidate(key, relevance, places) for key, relevance in min_max(total, floor=0.0).items()]
        )

    return stage


Place = tuple[int, ...]
"""Key of a ranked item: a document, or one fragment of it."""


def _places(hits: Iterable[Hit], unit: Unit) -> dict[Place, Hit]:
    """Return the best hit of each ranked item, best first."""
    best: dict[Place, Hit] = {}
    for hit in hits:
        best.setdefault(hit.key[: 1 if unit is Unit.DOCUMENT else 2], hit)
    return best


def _candidate(key: Place, relevance: float, places: Mapping[str, Mapping[Place, Hit]]) -> Candidate:
    hits = {name: found[key] for name, found in places.items() if key in found}
    best = next(iter(hits.values())).key  # of the most important clause
    return Candidate(best.document_id, best, relevance, relevance, {n: hit.score for n, hit in hits.items()})


def _told(name: str, found: Found, trace: Trace) -> Sequence[Hit]:
    work, own = found
    trace.degraded.update({f"{name}, {leg}": reason for leg, reason in own.degraded.items()})
    return [Hit(candidate.best, candidate.relevance) for candidate in work.candidates]
