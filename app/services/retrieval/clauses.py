"""Asking the clauses of a plan side by side, and making one list of what they find."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING

from clawmem.app.services.retrieval.pipeline import Pipeline
from clawmem.app.services.retrieval.request import RetrievalRequest, Unit
from clawmem.app.services.retrieval.trace import Trace
from clawmem.app.services.retrieval.work import Candidate, Stage, Work
from clawmem.domain.retrieval.fusion import min_max, rrf
from clawmem.domain.retrieval.planning import MAX_CLAUSES, Clause, ClauseKind
from clawmem.domain.retrieval.query_forms import query_forms
from clawmem.ports.errors import ClawmemError
from clawmem.ports.records import Hit

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

DEPTH = {ClauseKind.LEXICAL: 20, ClauseKind.VECTOR: 20, ClauseKind.GRAPH: 15}  # answers of one clause

Clauses = Mapping[str, Clause]
Found = tuple[Work, Trace]


def named(clauses: Sequence[Clause]) -> dict[str, Clause]:
    """Clauses by the names under which they are traced: ``clause 1 (bm25)``."""
    return {f"clause {n} ({clause.kind.value})": clause for n, clause in enumerate(clauses, start=1)}


class AskClauses:
    """
    Asks up to four clauses at once, each on a thread of its own, under one deadline.

    One that is late or broken is named in ``trace.degraded``. When none answers, the first error of one is
    raised.
    """

    def __init__(self, by_kind: Mapping[ClauseKind, Pipeline], deadline_s: float) -> None:
        self._by_kind = by_kind
        self._deadline_s = deadline_s

    def stage(self, clauses: Clauses) -> Stage:
        """The stage that asks these, and leaves what each finds under its name in ``legs``."""

        def ask(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
            found = self._side_by_side(clauses, request, trace)
            trace.hits.update({name: len(hits) for name, hits in found.items()})
            return work._replace(legs=found)

        return ask

    @cached_property
    def _threads(self) -> Sequence[ThreadPoolExecutor]:
        from concurrent.futures import ThreadPoolExecutor

        # Kept, and not a common pool, for the reasons that `AskAll` has.
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
                future.cancel()  # one that still waits for its turn is not wanted any more
                trace.degraded[name] = f"no answer within {self._deadline_s:g} s"
            except Exception as error:  # noqa: BLE001  a broken clause must not take the others' answers along
                trace.degraded[name] = str(error) or type(error).__name__
        if waiting and not found:
            raise self._first_error(waiting.values())
        return found

    def _ask(self, clause: Clause, request: RetrievalRequest) -> Found:
        depth = DEPTH[clause.kind]
        asked = request._replace(
            query=clause.query, forms=query_forms(clause.query), limit=depth, min_score=0.0
        )
        return self._by_kind[clause.kind].rank(asked)

    def _first_error(self, clauses: Iterable[Future[Found]]) -> BaseException:
        ended = [clause for clause in clauses if clause.done() and not clause.cancelled()]
        late = ClawmemError(f"Nothing answered within {self._deadline_s:g} s. Try again in a moment.")
        return next((error for clause in ended if (error := clause.exception())), late)


def merge_clauses(clauses: Clauses) -> Stage:
    """
    From what each clause found to one list, by reciprocal rank, the more important clauses with more weight.

    Ranks only: what words, vectors and the graph score is not comparable. Relevance is the share of the best
    sum, so that it fills [0, 1] and metadata decides no more than it does anywhere else.
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
"""What is ranked: a document, or one fragment of it."""


def _places(hits: Iterable[Hit], unit: Unit) -> dict[Place, Hit]:
    """The best hit of each thing that is ranked, best first."""
    best: dict[Place, Hit] = {}
    for hit in hits:
        best.setdefault(hit.key[: 1 if unit is Unit.DOCUMENT else 2], hit)
    return best


def _candidate(key: Place, relevance: float, places: Mapping[str, Mapping[Place, Hit]]) -> Candidate:
    hits = {name: found[key] for name, found in places.items() if key in found}
    best = next(iter(hits.values())).key  # the most important clause's
    return Candidate(best.document_id, best, relevance, relevance, {n: hit.score for n, hit in hits.items()})


def _told(name: str, found: Found, trace: Trace) -> Sequence[Hit]:
    work, own = found
    trace.degraded.update({f"{name}, {leg}": reason for leg, reason in own.degraded.items()})
    return [Hit(candidate.best, candidate.relevance) for candidate in work.candidates]
