"""Reranking by a model that reads a part of each candidate together with the question."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256

from clawmem.app.services.retrieval.models import (
    AnswerCache,
    DeadlineExecutor,
    Left,
    Models,
    reason_of,
)
from clawmem.app.services.retrieval.request import Ranking, RetrievalRequest, Unit
from clawmem.app.services.retrieval.work import Candidate, Stage, Trace, Work
from clawmem.domain.retrieval import chunk_choice, fusion
from clawmem.domain.retrieval.chunk_choice import CHUNK_CHARS, OVERLAP_CHARS, intent_terms
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import InputTooLong
from clawmem.ports.models import ModelAnswers, Reranker
from clawmem.ports.records import Span

RERANKED = 40  # candidates to rerank, independent of the limit, so that the first results do not depend on it
LINE_CHARS = 400  # characters around a line; with more, lines of one note would get the same text

RERANKER = "reranker"
PURPOSE = "rerank"
DEADLINE_S = 5.0
BATCH = 4  # texts per call; small enough for common context sizes and for the deadline
SHORT_CHARS = 400  # characters per text if the model rejects the whole texts as too long


def reranking_stages(documents: DocumentStore, answers: ModelAnswers, models: Models) -> dict[str, Stage]:
    """Return the stages between fusion and scoring in which a reranker reads the best candidates; none without one."""
    if models.reranker is None or models.clock is None:
        return {}
    return {
        "choose chunk": choose_chunk(documents, models.reranker),
        "rerank": rerank(models.reranker, answers, models.clock),
        "blend": blend,
    }


def choose_chunk(documents: DocumentStore, reranker: Reranker) -> Stage:
    """
    Return a stage that gives the first candidates the text for *reranker* to read.

    It applies to `RERANKED` candidates, or to the ``candidate_limit`` of the request.
    """
    readable = reranker.max_document_chars

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        most_read = request.candidate_limit or RERANKED
        head, tail = work.candidates[:most_read], work.candidates[most_read:]
        spans = documents.spans(candidate.best for candidate in head)
        most = min(readable, CHUNK_CHARS if request.unit is Unit.DOCUMENT else LINE_CHARS)
        wanted = intent_terms(request.purpose) if request.unit is Unit.DOCUMENT else ()
        words = request.question.forms.words
        chosen = [
            c._replace(chunk=chunk_of(documents, c, spans.get(c.best), words, wanted, chars=most))
            for c in head
        ]
        return work.with_candidates([*chosen, *tail])

    return stage


def chunk_of(
    documents: DocumentStore,
    candidate: Candidate,
    span: Span | None,
    words: Sequence[str],
    wanted: Sequence[str] = (),
    *,
    chars: int,
) -> str:
    """Return at most *chars* characters of the document of *candidate*, see `chunk_choice.choose_chunk`."""
    return chunk_choice.choose_chunk(
        documents.body(candidate.document_id) or "",
        words,
        wanted,
        around=(span.start, span.end) if span and span.end > span.start else None,
        chars=chars,
        overlap=min(OVERLAP_CHARS, chars // 2),
    )


def rerank(
    reranker: Reranker,
    answers: ModelAnswers,
    clock: Clock,
    *,
    deadline_s: float = DEADLINE_S,
) -> Stage:
    """
    Return a stage that scores every candidate with a chunk, as `RERANKER` in ``legs``.

    Equal texts are scored once, and scores are cached. Either all candidates are scored or none: after a failure,
    reported in ``trace.degraded``, the order is unchanged. Scores computed before the failure remain cached.
    """
    in_time = DeadlineExecutor(RERANKER, deadline_s)
    reading = _Reading(reranker, AnswerCache(answers, clock, PURPOSE))

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        texts = list(dict.fromkeys(c.chunk for c in work.candidates if c.chunk.strip()))
        if not texts:
            return work
        question = rerank_question(request.question.text, request.purpose)
        try:
            scores = in_time(lambda left: reading(question, texts, left))
        except Exception as error:  # noqa: BLE001  a failing model must not discard the answer
            trace.degraded[RERANKER] = reason_of(error)
            return work
        return work.with_candidates([_scored(candidate, scores) for candidate in work.candidates])

    return stage


def rerank_question(query: str, intent: str = "") -> str:
    """Return the query for a reranker: the intent, if given, an empty line, and the question."""
    return f"{intent.strip()}\n\n{query}" if intent.strip() else query


class _Reading:
    """Cached scores of one model by question and text."""

    def __init__(self, reranker: Reranker, remembered: AnswerCache) -> None:
        self._reranker = reranker
        self._remembered = remembered

    def __call__(self, question: str, texts: Sequence[str], left: Left) -> dict[str, float]:
        model = self._reranker.fingerprint
        names = {text: _name(question, text) for text in texts}
        scores = dict(self._known(model, names))
        unread = [text for text in texts if text not in scores]
        for start in range(0, len(unread), BATCH):
            batch = unread[start : start + BATCH]
            read = dict(zip(batch, self._asked(question, batch, left), strict=True))
            self._remembered.keep(model, {names[text]: repr(score) for text, score in read.items()})
            scores |= read
        return scores

    def _known(self, model: str, names: Mapping[str, str]) -> Iterator[tuple[str, float]]:
        for text, name in names.items():
            known = self._remembered.get(model, name)
            if known is not None and (score := _number(known)) is not None:
                yield text, score

    def _asked(self, question: str, batch: Sequence[str], left: Left) -> list[float]:
        try:
            return self._reranker.rerank(question, batch, timeout_s=left())
        except InputTooLong:
            short = [text[:SHORT_CHARS] for text in batch]
            if short == batch:
                raise
            return self._reranker.rerank(question, short, timeout_s=left())


def _name(question: str, text: str) -> str:
    return f"{sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}\n{question}"


def _number(written: str) -> float | None:
    try:
        number = float(written)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _scored(candidate: Candidate, scores: Mapping[str, float]) -> Candidate:
    if candidate.chunk not in scores:
        return candidate
    return candidate._replace(legs={**candidate.legs, RERANKER: scores[candidate.chunk]})


def blend(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
    """
    Order candidates by relevance and reranker score together; unchanged if nothing was reranked.

    The requested ranking decides how; with the default, the reranker can produce any order.
    """
    places = range(len(work.candidates))
    reranked = {n: work.candidates[n].legs[RERANKER] for n in places if RERANKER in work.candidates[n].legs}
    if not reranked:
        return work
    if request.ranking is Ranking.PUBLISHED:
        relevance = fusion.published_blend(places, reranked)
    else:
        relevance = fusion.blend({n: work.candidates[n].relevance for n in places}, reranked)
    ordered = sorted(places, key=lambda n: (-relevance[n], n))
    return work.with_candidates(
        [work.candidates[n]._replace(relevance=relevance[n], score=relevance[n]) for n in ordered]
    )
