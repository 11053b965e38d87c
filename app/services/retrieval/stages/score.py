"""Scoring: relevance and metadata as one score."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from heapq import nlargest

from clawmem.app.services.retrieval.request import Ranking, RetrievalRequest
from clawmem.app.services.retrieval.stages.signals import signals_of
from clawmem.app.services.retrieval.trace import Trace
from clawmem.app.services.retrieval.work import Candidate, Stage, Work
from clawmem.domain.briefing.profile import is_profile_asked, is_profile_page
from clawmem.domain.retrieval import calibrated, composite
from clawmem.domain.retrieval.intent import TimeIntent, has_recency_intent, time_intent
from clawmem.ports.records import Document
from clawmem.ports.vault import Vault

Places = Callable[[RetrievalRequest], int]

_SAID = {
    TimeIntent.RECENT: "the question asks for what is recent",
    TimeIntent.CURRENT: "the question asks for what holds now",
}


def score(vault: Vault, places: Places | None = None) -> Stage:
    """
    Return a stage that scores candidates by relevance and metadata with the requested policy.

    Args:
        places: Returns how many first places matter. Candidates that cannot reach them are not looked up and go to
            ``beyond``. Without it, and with policies other than `calibrated`, which have no bounds, all are looked up.
    """

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        wanted = _time_wanted(request)
        if wanted in _SAID:
            trace.stages[-1].notes.append(_SAID[wanted])
        scored, beyond = _first(vault, request, wanted, work.candidates, places and places(request))
        trace.drop(beyond, "cannot come among the first")
        return _ranked(request, work, trace, scored, beyond)

    return stage


def scored_whole(vault: Vault, request: RetrievalRequest, work: Work, trace: Trace) -> Work:
    """Return *work* with the candidates of ``beyond`` scored, too."""
    if not work.beyond:
        return work
    more = _scored_all(vault, request, _time_wanted(request), work.beyond)
    return _ranked(request, work._replace(candidates=work.beyond), trace, [*work.candidates, *more], ())


def _first(
    vault: Vault,
    request: RetrievalRequest,
    wanted: TimeIntent,
    candidates: Sequence[Candidate],
    places: int | None,
) -> tuple[list[Candidate], list[Candidate]]:
    """
    Return scored candidates that may be among the first *places*, and the others.

    A threshold algorithm (Fagin, Lotem & Naor 2003): the most relevant candidates are looked up until no other one
    could reach the last place with any metadata.
    """
    if places is None or request.ranking is Ranking.PUBLISHED:
        return _scored_all(vault, request, wanted, candidates), []
    recent, current = wanted is TimeIntent.RECENT, wanted is TimeIntent.CURRENT
    loss, gain = calibrated.reach(recency_intent=recent, current_intent=current)
    scored, beyond = list[Candidate](), [*candidates]
    while beyond:
        sure = nlargest(places, [*(c.score for c in scored), *(c.relevance - loss for c in beyond)])[-1]
        near = [c for c in beyond if c.relevance + gain >= sure]
        if not near:
            break
        beyond = [c for c in beyond if c.relevance + gain < sure]
        scored += _scored_all(vault, request, wanted, near)
    return scored, beyond


def _scored_all(
    vault: Vault, request: RetrievalRequest, wanted: TimeIntent, candidates: Sequence[Candidate]
) -> list[Candidate]:
    """Return the served candidates with their documents; the profile page only if the question asks for it."""
    documents = vault.documents.many({c.document_id for c in candidates})
    found = ((c, documents.get(c.document_id)) for c in candidates)
    with_profile = is_profile_asked(request.query, request.scope.collections)
    return [
        _scored(c, one, request, wanted)
        for c, one in found
        if one and one.inactive is None and (with_profile or not is_profile_page(one))
    ]


def _ranked(
    request: RetrievalRequest,
    work: Work,
    trace: Trace,
    scored: Sequence[Candidate],
    beyond: Sequence[Candidate],
) -> Work:
    known = {c.best for c in (*scored, *beyond)}
    trace.drop((c for c in work.candidates if c.best not in known), "not served")
    kept = [c for c in scored if c.score >= request.min_score]
    trace.drop((c for c in scored if c.score < request.min_score), "below the minimum score")
    ranked = sorted(kept, key=lambda c: (-c.score, c.best))
    return work._replace(candidates=tuple(ranked), beyond=tuple(beyond))


def asked_for(request: RetrievalRequest) -> int:
    """Return the number of requested results."""
    return request.limit


def _time_wanted(request: RetrievalRequest) -> TimeIntent:
    if request.ranking is Ranking.CALIBRATED:
        return time_intent(request.query)
    return TimeIntent.RECENT if has_recency_intent(request.query) else TimeIntent.ANY


def _scored(
    candidate: Candidate, document: Document, request: RetrievalRequest, wanted: TimeIntent
) -> Candidate:
    signals = signals_of(candidate.relevance, document, request.now_ms)
    recent = wanted is TimeIntent.RECENT
    if request.ranking is Ranking.PUBLISHED:
        score = composite.published(signals, recency_intent=recent)
        return candidate._replace(document=document, score=score)
    current = wanted is TimeIntent.CURRENT
    terms = calibrated.parts(candidate.relevance, signals, recency_intent=recent, current_intent=current)
    return candidate._replace(document=document, score=math.fsum(terms.values()), terms=terms)
