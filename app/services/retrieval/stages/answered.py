"""Decisions before the handoffs that only repeat the question which they answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clawmem.app.services.retrieval.request import RetrievalRequest, Unit
from clawmem.app.services.retrieval.work import Candidate, Stage, Trace, Work
from clawmem.domain.capture.notes import answered_question
from clawmem.domain.documents.tokens import words
from clawmem.ports.documents import DocumentStore

LOOKED_AT = 20  # first candidates
LEAST_SHARED = 0.5  # of the topic: below, the decision answers another question


def decisions_before_questions(documents: DocumentStore) -> Stage:
    """
    Return a stage that moves a captured decision to the place before the first handoff that has its question.

    The decision seldom has the words of the question, which the handoff repeats; it gets the handoff's confidence.
    """

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        topic = set(request.question.topic)
        head = work.candidates[:LOOKED_AT] if request.unit is not Unit.LINE else ()
        handoffs, decisions = _of_type(head, "handoff"), _of_type(head, "decision")
        if not (topic and handoffs and decisions):
            return work
        bodies = documents.bodies([one.document_id for one in (*handoffs, *decisions)])
        said = {one.document_id: _flat(bodies.get(one.document_id, "")) for one in handoffs}
        ordered = list(work.candidates)
        for decision in decisions:
            question = answered_question(bodies.get(decision.document_id, ""))
            if len(topic.intersection(words(question))) >= LEAST_SHARED * len(topic):
                _move(ordered, decision, _flat(question), said)
        scores = [one.score for one in work.candidates]
        return work.with_candidates(
            [one._replace(score=score) for one, score in zip(ordered, scores, strict=True)]
        )

    return stage


def _of_type(candidates: Sequence[Candidate], content_type: str) -> list[Candidate]:
    return [one for one in candidates if one.document and one.document.content_type == content_type]


def _move(ordered: list[Candidate], decision: Candidate, question: str, said: Mapping[int, str]) -> None:
    """Move *decision* before the first handoff above it whose text, by id in *said*, has its *question*."""
    here = ordered.index(decision)
    above = (place for place in range(here) if question in said.get(ordered[place].document_id, ""))
    if (first := next(above, None)) is not None:
        sure = max((one.confidence or 0.0 for one in (decision, ordered[first])), default=0.0)
        is_judged = decision.confidence is not None
        ordered.insert(first, ordered.pop(here)._replace(confidence=sure if is_judged else None))


def _flat(text: str) -> str:
    return f" {' '.join(words(text))} "
