"""Reranking by a model that reads each candidate together with the question."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256

from clawmem.app.services.retrieval.asking_models import (
    AnswerCache,
    DeadlineExecutor,
    Left,
    reason_of,
)
from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.stages.unchanged import unchanged
from clawmem.app.services.retrieval.trace import Trace
from clawmem.app.services.retrieval.work import Candidate, Stage, Work
from clawmem.ports.clock import Clock
from clawmem.ports.errors import InputTooLong
from clawmem.ports.model_answers import ModelAnswers
from clawmem.ports.reranker import Reranker

RERANKER = "reranker"
PURPOSE = "rerank"
DEADLINE_S = 5.0
BATCH = 4  # texts per call; small enough for common context sizes and for the deadline
SHORT_CHARS = 400  # characters per text if the model rejects the whole texts as too long


def rerank(
    reranker: Reranker | None,
    answers: ModelAnswers,
    clock: Clock,
    *,
    deadline_s: float = DEADLINE_S,
) -> Stage:
    """
    Return a stage that scores every candidate with a chunk, as `RERANKER` in ``legs``; none without *reranker*.

    Equal texts are scored once, and scores are cached. Either all candidates are scored or none: after a failure,
    reported in ``trace.degraded``, the order is unchanged. Scores computed before the failure remain cached.
    """
    if reranker is None:
        return unchanged
    in_time = DeadlineExecutor(RERANKER, deadline_s)
    reading = _Reading(reranker, AnswerCache(answers, clock, PURPOSE))

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        texts = list(dict.fromkeys(c.chunk for c in work.candidates if c.chunk.strip()))
        if not texts:
            return work
        question = rerank_question(request.query, request.purpose)
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
