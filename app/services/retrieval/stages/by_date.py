"""Questions for the newest note or about a time: matching notes in order of date."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from clawmem.app.services.documents.succession import known_by, successions_from
from clawmem.app.services.retrieval.request import Ranking, RetrievalRequest, Unit
from clawmem.app.services.retrieval.retrievers import scope_within
from clawmem.app.services.retrieval.stages.entries_of_day import (
    asked_kind_first,
    is_filed_under,
    with_entries,
)
from clawmem.app.services.retrieval.stages.versions_in_order import of_the_series
from clawmem.app.services.retrieval.work import Candidate, Stage, Trace, Work
from clawmem.domain.documents.address import OWN_COLLECTION
from clawmem.domain.documents.names import document_names
from clawmem.domain.retrieval.bm25 import rarity
from clawmem.domain.retrieval.by_date import (
    BY_TIME_OF_FILE,
    IN_ITS_TIME,
    OF_ITS_KIND,
    OUT_OF_ITS_TIME,
    about_topic,
    asks_for_records,
    is_own_deed,
    kinds_in,
    matching,
    names_the_same,
    newest_first,
    time_share,
)
from clawmem.domain.retrieval.question import ANY_KIND, NewestQuestion
from clawmem.domain.retrieval.relevance import POSSIBLE
from clawmem.domain.retrieval.standing import FULL, standing
from clawmem.domain.retrieval.succession import successors
from clawmem.domain.text.dates import TimeRange
from clawmem.domain.text.words import words
from clawmem.ports.documents import DocumentStore, SuccessionStore
from clawmem.ports.indexes import LexicalIndex
from clawmem.ports.records import Document, FragmentKey, Grain, LexicalQuery, Term

NEWEST = "newest"  # name of the term in the score
COMPARABLE = 0.5  # share of the best relevance; less relevant notes are not ordered by date
MOST_HOLDING = 1000  # best documents per word of the topic
MOST_BROUGHT = 100  # most notes of a kind added to the candidates


class _Pool(NamedTuple):
    """Notes to choose the newest from, the topic words they must contain, and a sentence for the trace."""

    documents: Mapping[int, Document]
    topic: tuple[str, ...]
    what: str
    is_kind: bool


def newest_matching_first(
    documents: DocumentStore, lexical: LexicalIndex, successions: SuccessionStore
) -> Stage:
    """
    Return a stage that moves matching notes to the front, newest first, if the question asks for the newest.

    A note matches if it is of the requested kind and covers the topic about as well as the best note. A note that
    covers only part of the topic keeps its rank, however new it is. Superseded notes come after other matching notes.
    """

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        if request.unit is Unit.LINE or request.ranking is Ranking.PUBLISHED:
            return work
        asked = request.question.newest
        if asked is None:
            return work
        pool, matched = matching_pool(documents, lexical, request, work, asked)
        if not matched:
            return work
        if pool.topic:
            matched |= of_the_series(work, matched, pool.topic)
        order, aside = newest_order(documents, successions, request, matched)
        if aside.issuperset(order):
            return work
        first = order[:MOST_BROUGHT]
        trace.stages[-1].notes.append(f"{pool.what}: {len(matched)} match, the newest first")
        ordered = arranged(work.candidates, [matched[number] for number in first])
        return _judged(work.with_candidates(ordered), len(first), by_kind=pool.is_kind and not pool.topic)

    return stage


def newest_order(
    documents: DocumentStore,
    successions: SuccessionStore,
    request: RetrievalRequest,
    matched: Mapping[int, Document],
) -> tuple[list[int], set[int]]:
    """Return *matched* with the newest first, and those of them that are drafts, copies or overviews."""
    aside = _set_aside(request, matched.values())
    dates = {number: one.authored_at for number, one in matched.items()}
    undated = {number for number, one in matched.items() if has_time_of_file(one)}
    pairs = known_by(documents, successions_from(successions, matched), request.as_of)
    superseded = {older for older, newer in successors(pairs).items() if newer}
    return newest_first(dates, superseded | aside, undated), aside


def matching_pool(
    documents: DocumentStore,
    lexical: LexicalIndex,
    request: RetrievalRequest,
    work: Work,
    asked: NewestQuestion,
) -> tuple[_Pool, dict[int, Document]]:
    """Return the first pool that covers the topic: notes of the kind, of a folder or tag, or the candidates."""
    pools = [
        _of_kind(documents, request, asked),
        _of_folder(documents, request, asked),
        _found(work, asked),
    ]
    for pool in pools:
        covered = _coverage(lexical, request, pool.documents, pool.topic) if pool.documents else {}
        if matched := matching(covered):
            return pool, {number: pool.documents[number] for number in matched}
    return pools[-1], {}


def _of_kind(documents: DocumentStore, request: RetrievalRequest, asked: NewestQuestion) -> _Pool:
    what = f"the question asks for the newest {asked.kind}"
    if not asked.kind:
        return _Pool({}, asked.topic, what, is_kind=True)
    if asked.kind == ANY_KIND:
        every = {} if asked.topic else {one.id: one for one in documents.latest(request.scope)}
        return _Pool(every, (), "the question asks for the newest note", is_kind=True)
    ids = documents.ids(request.scope, content_types={asked.kind})
    return _Pool(documents.many(ids) if ids else {}, asked.topic, what, is_kind=True)


def _of_folder(documents: DocumentStore, request: RetrievalRequest, asked: NewestQuestion) -> _Pool:
    topic = tuple(word for word in asked.topic if not names_the_same(word, asked.noun))
    what = f"the question asks for the newest of {asked.noun!r}"
    if not asked.noun:
        return _Pool({}, topic, what, is_kind=True)
    every = documents.latest(request.scope)
    named = {one.id: one for one in every if is_filed_under(one, asked.noun)}
    return _Pool(named, topic, what, is_kind=True)


def _found(work: Work, asked: NewestQuestion) -> _Pool:
    best = max((one.relevance for one in work.candidates), default=0.0)
    near = [one for one in work.candidates if one.relevance >= COMPARABLE * best]
    found = {one.document_id: one.document for one in near if one.document is not None}
    what = "the question asks for the newest about its topic"
    return _Pool(found, asked.topic or asked.kind_words, what, is_kind=False)


def _coverage(
    lexical: LexicalIndex, request: RetrievalRequest, documents: Mapping[int, Document], topic: Sequence[str]
) -> dict[int, float]:
    """Return the share of the topic in the text or names of each note, weighted by rarity of the words."""
    total = lexical.count(Grain.DOCUMENT)
    named = {number: frozenset(_name_words(one)) for number, one in documents.items()}
    held: list[tuple[float, set[int]]] = []
    for word in topic:
        among = {number for number, some in named.items() if word in some} | _holding(
            lexical, request, documents, word
        )
        known = lexical.holding(Term(word), Grain.DOCUMENT)
        held.append((math.log1p(total / max(1, known)), among))
    weight = math.fsum(share for share, _ in held)
    if not weight:
        return dict.fromkeys(documents, 1.0)
    return {
        number: math.fsum(share for share, among in held if number in among) / weight for number in documents
    }


def _holding(
    lexical: LexicalIndex, request: RetrievalRequest, documents: Mapping[int, Document], word: str
) -> set[int]:
    scope = request.scope._replace(documents=frozenset(documents))
    hits = lexical.search(LexicalQuery((Term(word),)), Grain.DOCUMENT, MOST_HOLDING, scope)
    return {hit.key.document_id for hit in hits}


def _name_words(document: Document) -> Iterable[str]:
    return (word for name in (*document_names(document), document.path) for word in words(name))


def has_time_of_file(document: Document) -> bool:
    """Whether *document* has no date of its own, only the modification time of its file."""
    return document.authored_at == document.modified_at and document.collection != OWN_COLLECTION


def _set_aside(request: RetrievalRequest, documents: Iterable[Document]) -> set[int]:
    asked = request.question.forms.words
    return {one.id for one in documents if standing(one.path, one.tags, one.content_type, asked) < FULL}


def arranged(candidates: Sequence[Candidate], first: Sequence[Document]) -> list[Candidate]:
    """Put *first* before all other candidates, and reassign the sorted scores in the new order."""
    found = {one.document_id: one for one in reversed(candidates)}
    moved = [found.get(one.id) or brought(one) for one in first]
    chosen = {one.document_id for one in moved}
    ordered = [*moved, *(one for one in candidates if one.document_id not in chosen)]
    scores = sorted((one.score for one in candidates), reverse=True)
    scores += [scores[-1] if scores else 1.0] * (len(ordered) - len(scores))
    return [_at(one, score) for one, score in zip(ordered, scores, strict=True)]


def _judged(work: Work, matched: int, *, by_kind: bool) -> Work:
    """
    Give the newest matching note the highest confidence of all matching notes, at least `OF_ITS_KIND` for a kind.

    The confidence of older notes of a kind is at least `POSSIBLE`, and at most that value or the complement of the
    newest note's confidence, whichever is higher.
    """
    first, *others = work.candidates[:matched]
    sure = max((one.confidence or 0.0) for one in (first, *others))
    if by_kind:
        sure = max(sure, OF_ITS_KIND)
        least, most = POSSIBLE, max(POSSIBLE, 1 - sure)
        others = [one._replace(confidence=min(most, max(least, one.confidence or 0.0))) for one in others]
    elif work.answered is None:
        return work
    ranked = (first._replace(confidence=sure), *others, *work.candidates[matched:])
    return work._replace(candidates=ranked, answered=max(work.answered or 0.0, sure))


def brought(document: Document) -> Candidate:
    """Return a candidate for a note as a whole that no retriever found."""
    return Candidate(document.id, FragmentKey(document.id, 0), 0.0, 0.0, document=document)


def _at(candidate: Candidate, score: float) -> Candidate:
    if candidate.score == score:
        return candidate
    terms = {**candidate.terms, NEWEST: score - candidate.score}
    return candidate._replace(score=score, terms=terms)


def named_time_first(documents: DocumentStore, lexical: LexicalIndex) -> Stage:
    """
    Return a stage for questions about a time.

    A question without a topic ("what happened in March") is answered by the notes of that time, newest first; so is a
    request restricted to days, a type, a tag or a property; the diary of the time comes first. For a question with a topic, notes of
    the named time get a confidence that rises with the rarity of that time, and those about the topic come first if the
    question asks for records. Requests with a floor are left unchanged.
    """

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        if request.unit is Unit.LINE or request.ranking is Ranking.PUBLISHED or request.floor:
            return work
        named = request.question.named_time
        if named is None and not _is_narrowed(request):
            return work
        if request.question.topic and named:
            found = _likelier(documents, lexical, request, work, named)
            return _records_first(documents, lexical, request, found, trace, named)
        if request.question.topic:
            return work
        if request.question.newest:
            return work
        return _listed(documents, lexical, request, work, trace, named)

    return stage


def records_in(
    lexical: LexicalIndex, request: RetrievalRequest, dated: Mapping[int, Document], named: TimeRange
) -> list[int]:
    """Return the records of the *named* time among its *dated* notes: the diary first, or those about the topic."""
    newest = newest_first({number: one.authored_at for number, one in dated.items()})
    if not request.question.topic:
        return asked_kind_first(newest, dated, named, request.question.text)
    if not dated or not asks_for_records(request.question.text, named):
        return []
    about = _about(lexical, request, dated, named)
    return [number for number in newest if number in about]


def _about(
    lexical: LexicalIndex, request: RetrievalRequest, written: Mapping[int, Document], named: TimeRange
) -> Collection[int]:
    """Return the notes about the topic among those of the types that the question names, else all of these types."""
    question = request.question
    kinds = kinds_in(question.text[: named.start])
    of_kind = {number: one for number, one in written.items() if one.content_type in kinds}
    about = about_topic(_coverage(lexical, request, of_kind or written, question.topic)) or of_kind.keys()
    return about or (written.keys() if is_own_deed(question.text, question.topic) else ())


def _is_narrowed(request: RetrievalRequest) -> bool:
    scope = request.scope
    has_until = scope.authored_until not in (None, request.as_of)
    return bool(scope.authored_from or has_until or request.content_types or request.tags or request.where)


def written_in(
    documents: DocumentStore, request: RetrievalRequest, named: TimeRange | None
) -> Mapping[int, Document]:
    """Return the active notes written in the *named* time and in scope."""
    scope = scope_within(request.scope, named) if named else request.scope
    ids = documents.ids(scope)  # the scope has only documents of the types, tags and properties
    return {number: one for number, one in documents.many(ids).items() if one.inactive is None}


def _listed(
    documents: DocumentStore,
    lexical: LexicalIndex,
    request: RetrievalRequest,
    work: Work,
    trace: Trace,
    named: TimeRange | None,
) -> Work:
    """Return *work* with all notes of the time first."""
    own = written_in(documents, request, named)
    written = with_entries(documents, lexical, request, named, own)
    if not written:
        return work
    undated = {number for number, one in own.items() if has_time_of_file(one)}
    dates = {number: one.authored_at for number, one in written.items()}
    first = asked_kind_first(newest_first(dates, (), undated), written, named, request.question.text)[
        :MOST_BROUGHT
    ]
    trace.stages[-1].notes.append(f"no topic: all {len(written)} notes of the time, newest first")
    ordered = arranged(work.candidates, [written[number] for number in first])
    judged = [_judged_by_time(one, one.document_id in written, one.document_id in undated) for one in ordered]
    best = max(one.confidence or 0.0 for one in judged)
    return work._replace(candidates=tuple(judged), answered=max(work.answered or 0.0, best))


def _records_first(
    documents: DocumentStore,
    lexical: LexicalIndex,
    request: RetrievalRequest,
    work: Work,
    trace: Trace,
    named: TimeRange,
) -> Work:
    """Return *work* with the notes of the time that are about the topic first, if the question asks for records."""
    if not asks_for_records(request.question.text, named):
        return work
    written = with_entries(documents, lexical, request, named, written_in(documents, request, named))
    about = _about(lexical, request, written, named)
    first = [one.document for one in work.candidates if one.document and one.document_id in about]
    if not first:
        return work
    trace.stages[-1].notes.append(f"{len(first)} notes of the time are about the topic")
    return work.with_candidates(arranged(work.candidates, first))


def _judged_by_time(candidate: Candidate, is_of_time: bool, is_undated: bool) -> Candidate:
    if is_of_time:
        return candidate._replace(confidence=BY_TIME_OF_FILE if is_undated else IN_ITS_TIME)
    is_without_date = candidate.document is not None and has_time_of_file(candidate.document)
    most = BY_TIME_OF_FILE if is_without_date else OUT_OF_ITS_TIME
    return candidate._replace(confidence=min(candidate.confidence or 0.0, most))


def _likelier(
    documents: DocumentStore, lexical: LexicalIndex, request: RetrievalRequest, work: Work, named: TimeRange
) -> Work:
    """Return *work* with a higher confidence for notes written in the named time."""
    own = written_in(documents, request, named)
    written = with_entries(documents, lexical, request, named, own)
    if work.answered is None or not written:
        return work
    dated = {n for n in written if n not in own or not has_time_of_file(own[n])}
    total = lexical.count(Grain.DOCUMENT)
    held = [lexical.holding(Term(word), Grain.DOCUMENT) for word in request.question.topic]
    share = time_share(rarity(total, len(written)), [rarity(total, one) for one in held])
    raised = [
        one._replace(confidence=max(one.confidence or 0.0, share)) if one.document_id in dated else one
        for one in work.candidates
    ]
    best = max((one.confidence or 0.0 for one in raised), default=0.0)
    return work._replace(candidates=tuple(raised), answered=max(work.answered, best))
