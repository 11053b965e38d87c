"""Questions about a time: its notes come first, or get a higher confidence."""

from __future__ import annotations

from collections.abc import Mapping

from clawmem.app.services.retrieval.legs.temporal import within
from clawmem.app.services.retrieval.request import Ranking, RetrievalRequest, Unit
from clawmem.app.services.retrieval.stages.newest_first import MOST_BROUGHT, arranged, has_time_of_file
from clawmem.app.services.retrieval.trace import Trace
from clawmem.app.services.retrieval.work import Candidate, Stage, Work
from clawmem.domain.retrieval.bm25 import rarity
from clawmem.domain.retrieval.named_time import (
    BY_TIME_OF_FILE,
    IN_ITS_TIME,
    OUT_OF_ITS_TIME,
    time_share,
    topic_besides,
)
from clawmem.domain.retrieval.newest import newest_first, newest_question
from clawmem.domain.retrieval.temporal import TimeRange, temporal_range
from clawmem.ports.records import Document, Grain, Term
from clawmem.ports.vault import Vault


def named_time_first(vault: Vault) -> Stage:
    """
    Return a stage for questions about a time.

    A question without a topic ("what happened in March") is answered by the notes of that time, newest first; so is a
    request restricted to days, a type or a tag. For a question with a topic the order is kept, and notes of the named
    time get a confidence that rises with the rarity of that time. Requests with a floor are left unchanged.
    """

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        if request.unit is Unit.LINE or request.ranking is Ranking.PUBLISHED or request.floor:
            return work
        named = temporal_range(request.query, now_ms=request.now_ms, zone=request.zone)
        if named is None and not _is_narrowed(request):
            return work
        topic = topic_besides(request.query, named)
        if topic:
            return _likelier(vault, request, work, named, topic) if named else work
        if newest_question(request.query):
            return work
        return _listed(vault, request, work, trace, named)

    return stage


def _is_narrowed(request: RetrievalRequest) -> bool:
    scope = request.scope
    has_until = scope.authored_until not in (None, request.as_of)
    return bool(scope.authored_from or has_until or request.content_types or request.tags)


def _written(vault: Vault, request: RetrievalRequest, named: TimeRange | None) -> Mapping[int, Document]:
    scope = within(request.scope, named) if named else request.scope
    ids = vault.documents.ids(scope, content_types=request.content_types, tags=request.tags)
    return {number: one for number, one in vault.documents.many(ids).items() if one.inactive is None}


def _listed(
    vault: Vault, request: RetrievalRequest, work: Work, trace: Trace, named: TimeRange | None
) -> Work:
    """Return *work* with all notes of the time first."""
    written = _written(vault, request, named)
    if not written:
        return work
    undated = {number for number, one in written.items() if has_time_of_file(one)}
    dates = {number: one.authored_at for number, one in written.items()}
    first = newest_first(dates, (), undated)[:MOST_BROUGHT]
    trace.stages[-1].notes.append(f"no topic: all {len(written)} notes of the time, newest first")
    ordered = arranged(work.candidates, [written[number] for number in first])
    judged = [_judged(one, one.document_id in written, one.document_id in undated) for one in ordered]
    best = max(one.confidence or 0.0 for one in judged)
    return work._replace(candidates=tuple(judged), answered=max(work.answered or 0.0, best))


def _judged(candidate: Candidate, is_of_time: bool, is_undated: bool) -> Candidate:
    if is_of_time:
        return candidate._replace(confidence=BY_TIME_OF_FILE if is_undated else IN_ITS_TIME)
    is_without_date = candidate.document is not None and has_time_of_file(candidate.document)
    most = BY_TIME_OF_FILE if is_without_date else OUT_OF_ITS_TIME
    return candidate._replace(confidence=min(candidate.confidence or 0.0, most))


def _likelier(
    vault: Vault, request: RetrievalRequest, work: Work, named: TimeRange, topic: tuple[str, ...]
) -> Work:
    """Return *work* with a higher confidence for notes written in the named time."""
    written = _written(vault, request, named)
    if work.answered is None or not written:
        return work
    total = vault.lexical.count(Grain.DOCUMENT)
    held = [vault.lexical.holding(Term(word), Grain.DOCUMENT) for word in topic]
    share = time_share(rarity(total, len(written)), [rarity(total, one) for one in held])
    raised = [
        one._replace(confidence=max(one.confidence or 0.0, share))
        if one.document_id in written and not has_time_of_file(written[one.document_id])
        else one
        for one in work.candidates
    ]
    best = max((one.confidence or 0.0 for one in raised), default=0.0)
    return work._replace(candidates=tuple(raised), answered=max(work.answered, best))
