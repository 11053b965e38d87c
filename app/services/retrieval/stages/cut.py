"""The end of a list: near-duplicates last, at most the limit, and no unlikely results below a likely one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clawmem.app.services.retrieval.request import RetrievalRequest, Unit
from clawmem.app.services.retrieval.work import HIDDEN, Candidate, Stage, Trace, Work
from clawmem.domain.retrieval import diversity
from clawmem.domain.retrieval.intent import GRAPH_INTENTS, Intent
from clawmem.domain.retrieval.relevance import POSSIBLE, results_to_show
from clawmem.ports.documents import DocumentStore

REASONS = 3
SPREAD = 20  # first candidates that are compared with each other, independent of the limit
READ_FOR_DIVERSITY = 800  # characters compared per text


def diversify(documents: DocumentStore) -> Stage:
    """Return a stage that moves near-duplicates of a better result behind the others; it drops nothing."""

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        if not request.diverse or request.unit is Unit.LINE:
            return work
        head, tail = work.candidates[:SPREAD], work.candidates[SPREAD:]
        bodies = documents.bodies(c.document_id for c in head)
        spread = diversity.diversify(head, lambda c: _beginning(c, bodies), enough=request.limit)
        return work.with_candidates([*spread, *tail])

    return stage


def _beginning(candidate: Candidate, bodies: Mapping[int, str]) -> str:
    title = candidate.document.title if candidate.document else ""
    return f"{title}\n{bodies.get(candidate.document_id, '')[:READ_FOR_DIVERSITY]}"


def cut(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
    """
    Keep the first ``limit`` candidates; among these, drop unlikely ones below a likely one.

    Nothing is dropped with ``show_all``, if no candidate is likely, or if relations were followed, because a cause
    need not share the subject of the question. For the same reason the first `REASONS` results of a question for a
    reason are kept.
    """
    first = _within_the_limit(request, work, trace)
    if work.intent is not None and work.intent.intent in GRAPH_INTENTS:
        return work.with_candidates(first)
    confidences = [one.confidence for one in first]
    if request.question.intent.intent is Intent.WHY:
        confidences[:REASONS] = [one if one is None else max(POSSIBLE, one) for one in confidences[:REASONS]]
    return _without_unlikely(request, work.with_candidates(first), confidences, trace)


def cut_by_note(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
    """
    Keep the first ``limit`` lines; drop the lines of unlikely notes below a likely note.

    A note has the confidence of its best line, as the line that answers often shares no words with the question, but
    is next to one that does.
    """
    first = _within_the_limit(request, work, trace)
    of_note: dict[int, float] = {}
    for one in first:
        if one.confidence is not None:
            of_note[one.document_id] = max(one.confidence, of_note.get(one.document_id, 0.0))
    confidences = [of_note.get(one.document_id) for one in first]
    return _without_unlikely(request, work.with_candidates(first), confidences, trace)


def _within_the_limit(request: RetrievalRequest, work: Work, trace: Trace) -> Sequence[Candidate]:
    trace.drop(work.candidates[request.limit :], "beyond the limit")
    return work.candidates[: request.limit]


def _without_unlikely(
    request: RetrievalRequest, work: Work, confidences: Sequence[float | None], trace: Trace
) -> Work:
    if request.show_all:
        return work
    judged = list(zip(work.candidates, results_to_show(confidences), strict=True))
    trace.drop((one for one, is_shown in judged if not is_shown), HIDDEN)
    return work.with_candidates([one for one, is_shown in judged if is_shown])
