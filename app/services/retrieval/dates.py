"""Documents that a question selects by date: the newest of a kind or about a topic, and those of a named time."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from clawmem.app.services.documents.succession import known_by, successions_from
from clawmem.app.services.retrieval.request import RetrievalRequest, Unit
from clawmem.app.services.retrieval.retrievers import scope_within
from clawmem.app.services.retrieval.work import Candidate, DateOrder, RetrievalStores, Stage, Trace, Work
from clawmem.domain.documents.address import OWN_COLLECTION
from clawmem.domain.documents.names import document_names, file_name
from clawmem.domain.retrieval.by_date import (
    BY_TIME_OF_FILE,
    IN_ITS_TIME,
    OF_ITS_KIND,
    OUT_OF_ITS_TIME,
    matching,
    newest_first,
    period_name,
)
from clawmem.domain.retrieval.question import ANY_KIND, NewestQuestion
from clawmem.domain.retrieval.relevance import POSSIBLE
from clawmem.domain.retrieval.standing import FULL, standing
from clawmem.domain.retrieval.succession import successors
from clawmem.domain.text.likeness import is_same_word
from clawmem.domain.text.words import words
from clawmem.ports.indexes import LexicalIndex
from clawmem.ports.records import Document, FragmentKey, Grain, LexicalQuery, Term

COMPARABLE = 0.5  # share of the best relevance; less relevant notes are not ordered by date
MOST_HOLDING = 1000  # best documents per word of the topic
MOST_ENTRIES = 100  # lines with the date of a day
MOST_BROUGHT = 100  # most notes of a kind added to the candidates
LINES_OF_TIME = 3  # notes of a time among lines
APART = 0.15  # difference in relevance between these: more than metadata can change


class Pool(NamedTuple):
    """Notes to choose the newest from, the topic words they must contain, and a sentence for the trace."""

    documents: Mapping[int, Document]
    topic: tuple[str, ...]
    what: str
    is_kind: bool = True


def select_by_date(stores: RetrievalStores) -> Stage:
    """
    Return a stage that sets `Work.by_date` and adds the documents that it names to the candidates.

    A question for the newest selects the notes of the kind or folder that it names, or else the candidates, which cover
    its topic about as well as the best one; superseded notes, drafts and copies come last. A named time without a
    topic ("what happened in March"), or a request restricted to days, a type, a tag or a property, selects all notes of
    it, those of the kind that is asked for first, then the diary of that day, month or year. Of lines, only the first notes of a kind or time become candidates, as a whole.
    """

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        question, is_line = request.question, request.unit is Unit.LINE
        if question.newest is not None:
            pool, matching_notes = newest_matches(stores, request, work, question.newest)
            if not matching_notes or (is_line and not pool.is_kind):
                return work
            order, aside = newest_order(stores, request, matching_notes)
            if aside.issuperset(order):
                return work
            trace.note(f"{pool.what}: {len(matching_notes)} match, the newest first")
            confidence = {}
            if pool.is_kind and (is_line or not pool.topic):
                confidence = dict.fromkeys(order, POSSIBLE) | {order[0]: OF_ITS_KIND}
            by_date, most = DateOrder(tuple(order[:MOST_BROUGHT]), confidence), 1
        elif not question.topic and (
            question.named_time
            or request.scope.authored_from
            or request.scope.authored_until not in (None, request.as_of)
            or request.content_types
            or request.tags
            or request.where
        ):
            matching_notes = written_in(stores, request, work)
            undated = {number for number, document in matching_notes.items() if has_time_of_file(document)}
            if is_line:
                matching_notes = {n: d for n, d in matching_notes.items() if n not in undated}
            if not matching_notes:
                return work
            dates = {number: document.authored_at for number, document in matching_notes.items()}
            diary = period_name(question.named_time) if question.named_time else ""

            def place(number: int) -> tuple[bool, bool]:
                document = matching_notes[number]
                return document.content_type not in question.kinds, file_name(document.path) != diary

            order = sorted(newest_first(dates, (), undated), key=place)
            most = LINES_OF_TIME
            trace.note(f"no topic: all {len(order)} notes of the time, newest first")
            confidence = dict.fromkeys(order, IN_ITS_TIME) | dict.fromkeys(undated, BY_TIME_OF_FILE)
            if is_line:
                confidence = dict.fromkeys(order, POSSIBLE) | dict.fromkeys(order[:most], IN_ITS_TIME)
            by_date = DateOrder(tuple(order[:MOST_BROUGHT]), confidence, 1.0 if is_line else OUT_OF_ITS_TIME)
        else:
            return work
        first = {c.document_id: c for c in reversed(work.candidates)}
        selected = [
            first.get(n) or Candidate(n, FragmentKey(n, 0), 0.0, 0.0, document=matching_notes[n])
            for n in by_date.order[: most if is_line else None]
        ]
        if is_line:
            selected = [c.with_relevance(1.0 - place * APART) for place, c in enumerate(selected)]
        chosen = {c.best for c in selected}
        others = [c for c in work.candidates if c.best not in chosen]
        return work.with_candidates([*selected, *others])._replace(by_date=by_date)

    return stage


def newest_matches(
    stores: RetrievalStores, request: RetrievalRequest, work: Work, newest: NewestQuestion
) -> tuple[Pool, dict[int, Document]]:
    """Return the first pool that covers the topic: notes of the kind, of a folder or tag, or the candidates."""
    best = max((c.relevance for c in work.candidates), default=0.0)
    near = [c.document_id for c in work.candidates if c.relevance >= COMPARABLE * best]
    what = "the question asks for the newest about its topic"
    last = Pool(work.texts.documents(near), newest.topic or newest.kind_words, what, is_kind=False)
    pools = [*pools_of_kind(stores, request, newest), last]
    for pool in pools:
        covered = coverage(stores.lexical, request, pool.documents, pool.topic) if pool.documents else {}
        if matched := matching(covered):
            return pool, {number: pool.documents[number] for number in matched}
    return pools[-1], {}


def pools_of_kind(
    stores: RetrievalStores, request: RetrievalRequest, newest: NewestQuestion
) -> Iterable[Pool]:
    """Yield the notes of the kind that is asked for, then those in a folder or with a tag of that name."""
    if newest.kind == ANY_KIND:
        every = {} if newest.topic else {d.id: d for d in stores.documents.latest(request.scope)}
        yield Pool(every, (), "the question asks for the newest note")
    elif newest.kind:
        ids = stores.documents.ids(request.scope, content_types={newest.kind})
        documents = stores.documents.many(ids) if ids else {}
        yield Pool(documents, newest.topic, f"the question asks for the newest {newest.kind}")
    if newest.noun:
        filed = {
            document.id: document
            for document in stores.documents.latest(request.scope)
            if any(
                is_same_word(newest.noun, name.casefold())
                for name in (*document.path.split("/")[:-1], *document.tags)
            )
        }
        topic = tuple(word for word in newest.topic if not is_same_word(word, newest.noun))
        yield Pool(filed, topic, f"the question asks for the newest of {newest.noun!r}")


def newest_order(
    stores: RetrievalStores, request: RetrievalRequest, documents: Mapping[int, Document]
) -> tuple[list[int], set[int]]:
    """Return *documents* with the newest first, and those of them that are drafts, copies or overviews."""
    terms = request.question.forms.words
    aside = {n for n, d in documents.items() if standing(d.path, d.tags, d.content_type, terms) < FULL}
    pairs = known_by(stores.documents, successions_from(stores.successions, documents), request.as_of)
    superseded = {older for older, newer in successors(pairs).items() if newer}
    undated = {number for number, document in documents.items() if has_time_of_file(document)}
    dates = {number: document.authored_at for number, document in documents.items()}
    return newest_first(dates, superseded | aside, undated), aside


def coverage(
    lexical: LexicalIndex, request: RetrievalRequest, documents: Mapping[int, Document], topic: Sequence[str]
) -> dict[int, float]:
    """Return the share of the topic in the text or names of each note, weighted by rarity of the words."""
    total = lexical.count(Grain.DOCUMENT)
    scope = request.scope._replace(documents=frozenset(documents))
    names = {
        number: {word for name in (*document_names(d), d.path) for word in words(name)}
        for number, d in documents.items()
    }
    holders: list[tuple[float, Collection[int]]] = []
    for word in topic:
        hits = lexical.search(LexicalQuery((Term(word),)), Grain.DOCUMENT, MOST_HOLDING, scope)
        holding = {hit.key.document_id for hit in hits} | {n for n, some in names.items() if word in some}
        weight = math.log1p(total / max(1, lexical.holding(Term(word), Grain.DOCUMENT)))
        holders.append((weight, holding))
    whole = math.fsum(weight for weight, _ in holders)
    if not whole:
        return dict.fromkeys(documents, 1.0)
    return {n: math.fsum(weight for weight, holding in holders if n in holding) / whole for n in documents}


def written_in(stores: RetrievalStores, request: RetrievalRequest, work: Work) -> dict[int, Document]:
    """
    Return the active notes in scope that were written in the time that the question names.

    To those of a day belong notes with a section whose heading is its date, such as 2026-03-31.
    """
    named = request.question.named_time
    scope = scope_within(request.scope, named) if named else request.scope
    ids = {*stores.documents.ids(scope)}  # the scope has only documents of the types, tags and properties
    day = period_name(named) if named else ""
    if named and len(day) == len("2026-03-31"):
        dated = LexicalQuery(tuple(map(Term, day.split("-"))), every=True)
        hits = stores.lexical.search(dated, Grain.LINE, MOST_ENTRIES, request.scope)
        spans = work.texts.spans(hit.key for hit in hits)
        numbers = day.split("-")
        ids |= {
            key.document_id
            for key, span in spans.items()
            if all(number in span.heading.rpartition(" › ")[2] for number in numbers)
        }
    return {n: d for n, d in stores.documents.many(ids).items() if d.inactive is None}


def has_time_of_file(document: Document) -> bool:
    """Whether *document* has no date of its own, only the modification time of its file."""
    return document.authored_at == document.modified_at and document.collection != OWN_COLLECTION
