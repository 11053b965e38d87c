"""Candidates with an identifier that the question names, before those without."""

from __future__ import annotations

from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.shortfalls import shortfalls
from clawmem.app.services.retrieval.stages.fuse import PRECISE_SHARE
from clawmem.app.services.retrieval.work import Candidate, Stage, Trace, Work
from clawmem.ports.documents import DocumentStore

MOST_COMPARED = 10  # first candidates whose passages are read


def exact_first(documents: DocumentStore) -> Stage:
    """
    Return a stage that lifts candidates which meet an exact demand of the question, if the first one does not.

    Exact demands are identifiers ("invoice 2026-014"): similar texts do not answer them.
    """

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        asked = request.question.demands
        if not asked.has_identifier:
            return work
        compared = work.candidates[:MOST_COMPARED]
        lacks = shortfalls(documents, request, work, compared, [1.0] * len(asked.words))
        meeting = {key for key, lack in lacks.items() if lack.number == 0}
        if not meeting or compared[0].best in meeting:
            return work
        trace.stages[-1].notes.append(f"{len(meeting)} with what the question names exactly first")
        lifted = [_lift(one, is_met=one.best in meeting) for one in work.candidates]
        return work.with_candidates(sorted(lifted, key=lambda one: (-one.relevance, one.best)))

    return stage


def _lift(candidate: Candidate, *, is_met: bool) -> Candidate:
    relevance = PRECISE_SHARE * is_met + (1 - PRECISE_SHARE) * candidate.relevance
    return candidate._replace(relevance=relevance, score=relevance)
