"""Pipelines: sequences of stages that record a trace, for a question whose misspelt words are corrected."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from itertools import islice
from time import perf_counter

from clawmem.app.services.documents.listing import documents_with
from clawmem.app.services.retrieval.answer import Answer, describe
from clawmem.app.services.retrieval.request import RetrievalRequest, rewind_request
from clawmem.app.services.retrieval.work import LoadedTexts, RetrievalStores, Stage, StageTrace, Trace, Work
from clawmem.domain.retrieval.spelling import (
    MOST_CORRECTED,
    best_spelling,
    full_words,
    with_corrections,
)
from clawmem.ports.errors import ClawmemError
from clawmem.ports.indexes import LexicalIndex, SpellingIndex
from clawmem.ports.records import Grain, LexicalQuery, Term

MOST_EXCLUDED = 10_000  # documents with an excluded word


class Pipeline:
    """
    Named stages in order, for one vault.

    Args:
        asks_models: Whether a stage waits for a generator or a reranker; then an answer is not read from one state of
            the vault, because others would wait for the end of that.
    """

    def __init__(
        self, stores: RetrievalStores, stages: Mapping[str, Stage], *, asks_models: bool = False
    ) -> None:
        self._stores = stores
        self._stages = stages
        self._asks_models = asks_models

    def rank(
        self, request: RetrievalRequest, work: Work | None = None, before: Trace | None = None
    ) -> tuple[Work, Trace]:
        """
        Run every stage; return the final candidates and the trace.

        Args:
            work: Result of another pipeline to continue with.
            before: Trace of that pipeline, which is continued.
        """
        request, notes = self._without_excluded(self._narrowed(rewind_request(request))), list[str]()
        work = work or Work(LoadedTexts(self._stores.documents))
        trace = before or Trace()
        if not before:
            trace.corrected.update(_corrections(self._stores.lexical, request))
            notes = [f"{word!r} read as {spelling!r}" for word, spelling in trace.corrected.items()]
        request = _as_read(request, trace.corrected)
        for name, stage in self._stages.items():
            began = perf_counter()
            trace.stages.append(StageTrace(name, len(work.candidates), 0, 0.0, notes))
            notes = []
            work = stage(request, work, trace)
            trace.stages[-1].went_out = len(work.candidates)
            trace.stages[-1].ms = (perf_counter() - began) * 1000
        trace.legs = work.legs
        return work, trace

    def __call__(self, request: RetrievalRequest) -> Answer:
        """Return the answer to a question, with locations, snippets, and the intent if a stage recognised it."""
        stores = self._stores
        with nullcontext() if self._asks_models else stores.transactions.reading():
            work, trace = self.rank(request)
            if missing := self._changed_since(request):
                trace.degraded["as of"] = missing
            question = _as_read(request, trace.corrected)
            results = describe(work.texts, stores, question, work.candidates)
        intent, confidence = work.intent or (None, None)
        return Answer(
            request.question.text,
            results,
            trace,
            answered=work.answered,
            intent=intent,
            confidence=confidence,
        )

    def _narrowed(self, request: RetrievalRequest) -> RetrievalRequest:
        """Replace content types, tags and properties with the documents that have them: every index can filter by these."""
        if not (request.content_types or request.tags or request.where):
            return request
        documents, properties = self._stores.documents, self._stores.properties
        matching = documents_with(
            documents, properties, request.scope, request.tags, request.where, request.content_types
        )
        return request._replace(scope=request.scope._replace(documents=matching))

    def _without_excluded(self, request: RetrievalRequest) -> RetrievalRequest:
        """Restrict *request* to the documents without the words that its question excludes ("apple -laptop")."""
        excluded, scope = request.question.forms.excluded, request.scope
        if not excluded:
            return request
        query = LexicalQuery(tuple(map(Term, excluded)))
        hits = self._stores.lexical.search(query, Grain.DOCUMENT, MOST_EXCLUDED, scope)
        every = self._stores.documents.ids(scope) if scope.documents is None else scope.documents
        return request._replace(scope=scope._replace(documents=every - {hit.key.document_id for hit in hits}))

    def _changed_since(self, request: RetrievalRequest) -> str:
        """
        Return a sentence about undated notes that may be missing; empty if there are none or ``as_of`` is not set.

        A note without a date counts as written when its file last changed. Its earlier content is unknown.
        """
        if request.as_of is None:
            return ""
        documents, properties = self._stores.documents, self._stores.properties
        scope = request.scope._replace(authored_from=request.as_of, authored_until=None)
        later = documents_with(
            documents, properties, scope, request.tags, request.where, request.content_types
        )
        undated = sum(not document.has_own_date for document in documents.many(later).values())
        return f"left out {undated} without a date of their own, changed since" if undated else ""


def _as_read(request: RetrievalRequest, corrected: Mapping[str, str]) -> RetrievalRequest:
    """Return *request* with the words that were searched, which snippets show."""
    return request.asking(with_corrections(request.question.text, corrected)) if corrected else request


def _corrections(lexical: LexicalIndex, request: RetrievalRequest) -> dict[str, str]:
    """Return the corrections of the words of *request* that the vault does not know."""
    corrected: dict[str, str] = {}
    try:
        terms = request.question.forms.relaxed.terms
        unknown = lexical.unknown_words(terms) if terms and isinstance(lexical, SpellingIndex) else {}
        for word, near in islice(unknown.items(), MOST_CORRECTED):
            best = best_spelling(word, near.stem, near.alike)
            spellings = full_words(word, near.stem, best) if best else []
            if spelling := next((s for s in spellings if lexical.holding(Term(s), Grain.DOCUMENT)), None):
                corrected[word] = spelling
    except ClawmemError:  # the lexical retriever reports it
        return {}
    return corrected
