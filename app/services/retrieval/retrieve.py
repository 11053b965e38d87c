"""The retrievers, each of which searches one index for candidates, and the stage that runs them with a common deadline."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue
from time import perf_counter
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from clawmem.app.services.retrieval.answer import Answer
from clawmem.app.services.retrieval.request import RetrievalRequest, Unit, scope_within
from clawmem.app.services.retrieval.work import Stage, Trace, Work
from clawmem.domain.retrieval.grains import DOCUMENT_WEIGHTS, LINE_WEIGHTS, PRECISE, TIME, VECTOR
from clawmem.domain.text.written_dates import days_text
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import ClawmemError, EmbeddingError, IndexUnavailable, ModelMismatch
from clawmem.ports.indexes import EmbeddingStore, LexicalIndex, VectorSearch
from clawmem.ports.models import Embedder
from clawmem.ports.records import FragmentKey, Grain, Hit, LexicalQuery, Scope, Span

Found = TypeVar("Found")
Task = tuple[Future[Any], Callable[[], Any]]

DEADLINE_S = 5.0
LATE = "no answer within"  # start of the message about a retriever that exceeded its deadline


@dataclass(eq=False)
class NamedThreads(AbstractContextManager["NamedThreads"]):
    """
    One thread per name, reused by later questions, each with its own connection to the vault: one that hangs blocks no
    other.

    The threads are daemons, so that a hanging one does not keep the process alive.
    """

    _queues: dict[str, SimpleQueue[Task | None]] = field(default_factory=dict)

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

    def __exit__(self, *error: object) -> None:
        """Let the threads finish their current work and end."""
        for queue in self._queues.values():
            queue.put(None)
        self._queues.clear()

    __del__ = __exit__


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
    """Hits of a retriever, why they are incomplete, a note, and the fingerprint of the vectors searched."""

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
        patience_s: Deadlines of single retrievers below *deadline_s*, after which the stage stops waiting.
        threads: Threads whose owner outlives this stage.
        at_hand: Returns the retrievers to run on the calling thread: CPU-bound ones would contend for the GIL.
    """
    pool = threads or NamedThreads()

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        began, local = perf_counter(), legs if len(legs) == 1 else at_hand()
        calls = {name: partial(leg, request, work) for name, leg in legs.items()}
        waiting = {name: Future() if name in local else pool.ask(name, call) for name, call in calls.items()}
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
            raise first_error or ClawmemError(f"Nothing answered within {deadline_s:g} s. Try again.")
        # Days of the request restrict notes to sections.
        sections = {n: [*filter(None, spans)] for n, spans in request.sections.items() if None not in spans}
        keys = (hit.key for hits in found.values() for hit in hits if hit.key.document_id in sections)
        spans = work.texts.spans(keys) if sections else {}
        outside = {key for key, span in spans.items() if not sections_around(span, sections[key.document_id])}
        found = {name: [hit for hit in hits if hit.key not in outside] for name, hits in found.items()}
        trace.hits.update({name: len(hits) for name, hits in found.items()})
        return work._replace(legs=found, space=space)

    return stage


def sections_around(span: Span, sections: Iterable[Span]) -> list[Span]:
    """Return those of *sections* that have a part of *span*."""
    return [part for part in sections if part.start < span.end and span.start < part.end]


# Deep enough that the first results do not depend on the limit.
LEXICAL_DEPTH = {Grain.LINE: 200, Grain.PASSAGE: 100, Grain.DOCUMENT: 100}
# A log or a table may match in hundreds of lines. More than this many of one note crowd out the lines of the others.
MOST_LINES = 40

VECTOR_DEPTH = 100
VECTOR_ALONE_DEPTH = 600  # fragments; a document may have several, and no other retriever adds documents
NO_VECTORS = "the vault holds no vectors yet. Run: clawmem embed"


def lexical_retriever(lexical: LexicalIndex) -> Retriever:
    """Return a retriever for any word at every weighted granularity, and for all words if the question is a name."""

    def search(request: RetrievalRequest, work: Work) -> RetrieverResult:
        forms, is_document = request.question.forms, request.unit is Unit.DOCUMENT
        weights = DOCUMENT_WEIGHTS if is_document else LINE_WEIGHTS
        queries = {grain.value: (forms.relaxed, grain) for grain in Grain if grain.value in weights}
        if forms.precise:
            queries[PRECISE] = forms.precise, Grain.DOCUMENT if is_document else Grain.LINE
        return answered(
            {
                name: partial(_lines_of_many, lexical, query, request.scope)
                if grain is Grain.LINE and is_document
                else partial(lexical.search, query, grain, LEXICAL_DEPTH[grain], request.scope)
                for name, (query, grain) in queries.items()
            }
        )

    return search


def _lines_of_many(lexical: LexicalIndex, query: LexicalQuery, scope: Scope) -> list[Hit]:
    """Return the best lines, at most `MOST_LINES` of each document."""
    depth = LEXICAL_DEPTH[Grain.LINE]
    hits = lexical.search(query, Grain.LINE, depth, scope)
    counts = Counter(hit.key.document_id for hit in hits)
    if max(counts.values(), default=0) <= MOST_LINES:
        return hits
    places: Counter[int] = Counter()
    lines = []
    for hit in lexical.search(query, Grain.LINE, 2000, scope):
        places[hit.key.document_id] += 1
        if places[hit.key.document_id] <= MOST_LINES:
            lines.append(hit)
    return lines[:depth]


def vector_retriever(
    vectors: VectorSearch, embeddings: EmbeddingStore, embedder: Embedder, depth: int = VECTOR_DEPTH
) -> Retriever:
    """
    Return a retriever for the fragments nearest to the question.

    It raises `ModelMismatch` rather than compare two embedding spaces, and searches once more if vectors of another
    take over.
    """

    def search(request: RetrievalRequest, work: Work) -> RetrieverResult:
        if not request.question.forms.words:
            return RetrieverResult({})  # punctuation has a vector too, but a meaningless one
        stored = embeddings.fingerprint()
        try:
            answer = within(stored, request)
        except ClawmemError:
            if embeddings.fingerprint() == stored:
                raise
        else:
            if embeddings.fingerprint() == stored:
                return answer
        return within(embeddings.fingerprint(), request)

    def within(stored: str | None, request: RetrievalRequest) -> RetrieverResult:
        if stored is None:
            return RetrieverResult({})
        if stored != embedder.fingerprint:
            raise ModelMismatch(stored, embedder.fingerprint)
        vector = embedder.embed_query(request.question.text)
        found = answered({VECTOR: lambda: vectors.search(vector, depth, request.scope)})
        missing, note = "", ""
        if count := embeddings.documents_without():
            missing = f"some texts have no vectors and may be missed (documents: {count}). Run: clawmem embed"
        if building := embeddings.building():
            note = f"the vectors are of {stored!r}; those of {building.fingerprint!r} are {building.share:.0%} made"
        degraded = "; ".join(filter(None, (found.degraded, missing)))
        return found._replace(degraded=degraded, note=note, space=stored)

    return search


def in_time(documents: DocumentStore, request: RetrievalRequest, work: Work) -> RetrieverResult:
    """Retrieve documents of the named time, which is no filter: a document may be about another time."""
    if (named := request.question.named_time) is None:
        return RetrieverResult({})
    zone = request.question.zone
    written = documents.latest(scope_within(request.scope, named, zone), limit=200)
    hits = [Hit(FragmentKey(document.id, 0), 1.0) for document in written]
    return RetrieverResult({TIME: hits}, note=f"the time it names: {days_text(*named.days(zone))}")


def in_named_time(leg: Retriever, request: RetrievalRequest, work: Work) -> RetrieverResult:
    """Run *leg* on documents written in the time that the question names, on all if it finds none there."""
    if named := request.question.named_time:
        answer = leg(request._replace(scope=scope_within(request.scope, named, request.question.zone)), work)
        if any(answer.hits.values()):
            return answer
    return leg(request, work)


def require_vectors(embeddings: EmbeddingStore, what: str) -> None:
    """Raise `EmbeddingError` if the vault has no vectors; *what* (found, compared) completes the message."""
    if embeddings.fingerprint() is None:
        raise EmbeddingError(f"Nothing can be {what} by meaning: {NO_VECTORS}")


def report_missing_vectors(embeddings: EmbeddingStore, verb: str, answer: Answer) -> None:
    """Report missing vectors in the trace of *answer*, unless *verb* needs none."""
    needs_none = (answer.mode or verb) in ("search", "keyword", "timeline") or answer.trace.hits.get("vector")
    if not needs_none and embeddings.fingerprint() is None:
        answer.trace.degraded["vector"] = NO_VECTORS
