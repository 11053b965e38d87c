"""Stages that keep texts of others from displacing texts of the user."""

from __future__ import annotations

from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.trace import Trace
from clawmem.app.services.retrieval.work import Candidate, Work
from clawmem.domain.security.origin import is_verified

LEAST_NEAR = 0.05  # of the best text of others

MOST_OF_OTHERS = 20  # candidates: a third of `LOOKED_AT`


def _is_own(candidate: Candidate) -> bool:
    return candidate.document is None or is_verified(candidate.document.origin)


def raised_to_others(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
    """
    Raise the scores of the user's and the assistants' texts until the best of them equals the best text of others.

    A score says how near a text comes to the best one, and thresholds are relative to the best score. A planted note
    that repeats a question would otherwise silence every honest answer. Texts that come nowhere near stay where they are.
    """
    own = max((c.score for c in work.candidates if _is_own(c)), default=0.0)
    others = max((c.score for c in work.candidates if not _is_own(c)), default=0.0)
    if own >= others or own < LEAST_NEAR * others:
        return work
    factor = others / own
    raised = [c._replace(score=c.score * factor) if _is_own(c) else c for c in work.candidates]
    return work.with_candidates(sorted(raised, key=lambda c: (-c.score, c.best)))


def few_of_others(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
    """Keep only the best `MOST_OF_OTHERS` texts of others, so that copies leave room for other candidates."""
    others = [c for c in work.candidates if not _is_own(c)]
    trace.drop(others[MOST_OF_OTHERS:], "many texts of others")
    beyond = {c.best for c in others[MOST_OF_OTHERS:]}
    return work.with_candidates([c for c in work.candidates if c.best not in beyond])


def own_first(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
    """Put texts of the user and of assistants before texts of others, which get the remaining room."""
    return work.with_candidates(sorted(work.candidates, key=lambda c: not _is_own(c)))
