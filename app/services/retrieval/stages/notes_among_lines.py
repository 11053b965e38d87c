"""Notes as a whole among lines: the newest of a kind, and the records of a named time."""

from __future__ import annotations

from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.stages.by_date import (
    brought,
    has_time_of_file,
    matching_pool,
    newest_order,
    records_in,
    written_in,
)
from clawmem.app.services.retrieval.work import Candidate, Stage, Trace, Work
from clawmem.domain.retrieval.by_date import IN_ITS_TIME, OF_ITS_KIND
from clawmem.domain.retrieval.relevance import POSSIBLE
from clawmem.ports.documents import DocumentStore, SuccessionStore
from clawmem.ports.indexes import LexicalIndex

APART = 0.15  # difference in relevance between records: more than metadata can change
MOST_RECORDS = 3  # notes of a time in a context block


def newest_of_kind(documents: DocumentStore, lexical: LexicalIndex, successions: SuccessionStore) -> Stage:
    """
    Return a stage for lines that puts the newest note of a kind or folder first, if the question asks for it.

    The note becomes a candidate as a whole: that it is the newest is no word of any line.
    """

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        asked = request.question.newest
        if asked is None:
            return work
        pool, matched = matching_pool(documents, lexical, request, work, asked)
        if not pool.is_kind or not matched:
            return work
        newest = newest_order(documents, successions, request, matched)[0][0]
        trace.stages[-1].notes.append(f"{pool.what}: {len(matched)} match")
        lines = (one for one in work.candidates if one.document_id == newest)
        first = next(lines, None) or brought(matched[newest])
        sure = first._replace(relevance=1.0, score=1.0, confidence=OF_ITS_KIND)
        others = [one for one in work.candidates if one is not first]
        return work._replace(candidates=(sure, *others), answered=max(work.answered or 0.0, OF_ITS_KIND))

    return stage


def records_of_time(documents: DocumentStore, lexical: LexicalIndex) -> Stage:
    """
    Return a stage for lines that puts a few notes of the named time first, if the question asks for records of it.

    These are the newest of its dated notes, the diary of the time before all others, or those about the topic. Without a
    topic they become candidates as a whole, because none of their lines needs to contain a word of the question.
    """

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        named = request.question.named_time
        if named is None:
            return work
        dated = {
            n: one for n, one in written_in(documents, request, named).items() if not has_time_of_file(one)
        }
        lines: dict[int, Candidate] = {}
        for one in work.candidates if request.question.topic else ():
            lines.setdefault(one.document_id, one)
        records = records_in(lexical, request, dated, named)
        found = [number for number in lines if number in records]  # best match first
        first = [*found, *(number for number in records if number not in found)][:MOST_RECORDS]
        if not first:
            return work
        trace.stages[-1].notes.append(f"{len(first)} records of the named time first")
        shown = [lines.get(number) or brought(dated[number]) for number in first]
        others = [
            _possible(one) if one.document_id in dated else one for one in work.candidates if one not in shown
        ]
        sure = [
            one._replace(relevance=1.0 - place * APART, confidence=IN_ITS_TIME)
            for place, one in enumerate(shown)
        ]
        return work._replace(candidates=(*sure, *others), answered=max(work.answered or 0.0, IN_ITS_TIME))

    return stage


def _possible(candidate: Candidate) -> Candidate:
    """Return *candidate* with at least the confidence of a result that is shown below a likely one."""
    return candidate._replace(confidence=max(POSSIBLE, candidate.confidence or 0.0))
