"""Reranking by a model that reads a part of each candidate together with the question."""

from __future__ import annotations

import math
from collections.abc import Sequence
from hashlib import sha256

from clawmem.app.services.retrieval.models import AnswerCache, DeadlineExecutor, Left, Models, reason_of
from clawmem.app.services.retrieval.request import RetrievalRequest, Unit
from clawmem.app.services.retrieval.work import RetrievalStores, Stage, Trace, Work
from clawmem.domain.retrieval import chunk_choice, fusion
from clawmem.domain.retrieval.chunk_choice import CHUNK_CHARS, OVERLAP_CHARS, intent_terms
from clawmem.ports.clock import Clock
from clawmem.ports.errors import InputTooLong
from clawmem.ports.models import ModelAnswers, Reranker

RERANKED = 40  # candidates to rerank, independent of the limit, so that the first results do not depend on it
LINE_CHARS = 400  # characters around a line; with more, lines of one note would get the same text

RERANKER = "reranker"
PURPOSE = "rerank"
DEADLINE_S = 5.0
BATCH = 4  # texts per call; small enough for common context sizes and for the deadline
SHORT_CHARS = 400  # characters per text if the model rejects the whole texts as too long


def reranking_stages(stores: RetrievalStores, models: Models) -> dict[str, Stage]:
    """Return the stages between fusion and scoring in which a reranker reads the best candidates; none without one."""
    if models.reranker is None or models.clock is None:
        return {}
    return {
        "choose chunk": choose_chunk(models.reranker),
        "rerank": rerank(models.reranker, stores.answers, models.clock),
        "blend": blend,
    }


def choose_chunk(reranker: Reranker) -> Stage:
    """
    Return a stage that gives the first candidates the text for *reranker* to read.

    It applies to `RERANKED` candidates, or to the ``candidate_limit`` of the request.
    """

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        most_read = request.candidate_limit or RERANKED
        head, tail = work.candidates[:most_read], work.candidates[most_read:]
        is_document = request.unit is Unit.DOCUMENT
        chars = min(reranker.max_document_chars, CHUNK_CHARS if is_document else LINE_CHARS)
        wanted = intent_terms(request.purpose) if is_document else ()
        bodies = work.texts.bodies(c.document_id for c in head)
        spans = work.texts.spans(c.best for c in head if c.span is None)
        chosen = []
        for candidate in head:
            span = candidate.span or spans.get(candidate.best)
            chunk = chunk_choice.choose_chunk(
                bodies.get(candidate.document_id, ""),
                request.question.forms.words,
                wanted,
                around=(span.start, span.end) if span and span.end > span.start else None,
                chars=chars,
                overlap=min(OVERLAP_CHARS, chars // 2),
            )
            chosen.append(candidate._replace(chunk=chunk))
        return work.with_candidates([*chosen, *tail])

    return stage


def rerank(
    reranker: Reranker, answers: ModelAnswers, clock: Clock, *, deadline_s: float = DEADLINE_S
) -> Stage:
    """
    Return a stage that scores every candidate with a chunk, as `RERANKER` in ``legs``.

    Equal texts are scored once, and scores are cached. Either all candidates are scored or none: after a failure,
    reported in ``trace.degraded``, the order is unchanged. Scores computed before the failure remain cached.
    """
    in_time = DeadlineExecutor(RERANKER, deadline_s)
    cache = AnswerCache(answers, clock, PURPOSE)

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        texts = list(dict.fromkeys(c.chunk for c in work.candidates if c.chunk.strip()))
        if not texts:
            return work
        purpose = request.purpose.strip()
        question = f"{purpose}\n\n{request.question.text}" if purpose else request.question.text
        try:
            scores = in_time(lambda left: scored(question, texts, left))
        except Exception as error:  # noqa: BLE001  a failing model must not discard the answer
            trace.degraded[RERANKER] = reason_of(error)
            return work
        return work.with_candidates(
            c._replace(legs={**c.legs, RERANKER: scores[c.chunk]}) if c.chunk in scores else c
            for c in work.candidates
        )

    def scored(question: str, texts: Sequence[str], left: Left) -> dict[str, float]:
        model, scores, names = reranker.fingerprint, dict[str, float](), dict[str, str]()
        for text in texts:
            names[text] = f"{sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}\n{question}"
            known = _number(cache.get(model, names[text]))
            if known is not None:
                scores[text] = known
        unread = [text for text in texts if text not in scores]
        for start in range(0, len(unread), BATCH):
            batch = unread[start : start + BATCH]
            new = dict(zip(batch, read(question, batch, left), strict=True))
            cache.keep(model, {names[text]: repr(score) for text, score in new.items()})
            scores |= new
        return scores

    def read(question: str, batch: Sequence[str], left: Left) -> list[float]:
        try:
            return reranker.rerank(question, batch, timeout_s=left())
        except InputTooLong:
            short = [text[:SHORT_CHARS] for text in batch]
            if short == batch:
                raise
            return reranker.rerank(question, short, timeout_s=left())

    return stage


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def blend(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
    """
    Order candidates by relevance and reranker score together; unchanged if nothing was reranked.

    The reranker can produce any order.
    """
    places = range(len(work.candidates))
    reranked = {n: c.legs[RERANKER] for n, c in enumerate(work.candidates) if RERANKER in c.legs}
    if not reranked:
        return work
    relevance = fusion.blend({n: work.candidates[n].relevance for n in places}, reranked)
    ordered = sorted(places, key=lambda n: (-relevance[n], n))
    return work.with_candidates(work.candidates[n].with_relevance(relevance[n]) for n in ordered)
