"""Documents that a question selects by date: the newest of a kind or about a topic, and those of a named time."""

from collections.abc import Collection, Mapping

from clawmem.app.services.documents.succession import successions_from
from clawmem.app.services.retrieval.request import RetrievalRequest, Unit
from clawmem.app.services.retrieval.retrieve import scope_within
from clawmem.app.services.retrieval.work import Candidate, DateOrder, RetrievalStores, Trace, Work
from clawmem.domain.documents.address import OWN_COLLECTION
from clawmem.domain.documents.names import file_name
from clawmem.domain.documents.times import DAY_MS, parse_iso
from clawmem.domain.retrieval.calibrated import FULL, is_own, standing
from clawmem.domain.retrieval.question import ANY_KIND, NewestQuestion
from clawmem.domain.retrieval.relevance import POSSIBLE
from clawmem.domain.retrieval.versions import successors
from clawmem.domain.text.likeness import is_same_word
from clawmem.ports.records import Document, FragmentKey, Grain, LexicalQuery, Term

# Confidence of the newest note of a kind ("the latest handoff") and of those of a time, which match by type and date alone.
# Not fitted: an estimate of how often these are recognised correctly in the question and the note.
SELECTED = 0.8
BY_TIME_OF_FILE = 0.3  # maximum for a note that is only dated by its file, or of an open time
COMPARABLE = 0.7  # share of the best relevance; less relevant notes are not ordered by date
MOST_BROUGHT = 100  # notes of a kind, or lines with the date of a day
DAY = len("2026-03-31")
APART = 0.15  # difference in relevance between these: more than metadata can change


def select_by_date(stores: RetrievalStores, request: RetrievalRequest, work: Work, trace: Trace) -> Work:
    """
    Set `Work.by_date` and add the documents that it names to the candidates.

    A question for the newest selects the notes of the kind or folder that it names, or else the candidates, which cover
    its topic about as well as the best one; superseded notes, drafts and copies come last. A named time without a
    topic, or a request restricted to days, a type, a tag or a property, selects all notes of it, those of the kind that
    is asked for first, then the diary of that day, month or year, then what the owner did not write. Of lines, only the
    first notes of a kind or time become candidates, as a whole.
    """
    question, is_line = request.question, request.unit is Unit.LINE
    others, most = 1.0, 1
    if question.newest is not None:
        documents, has_kind, has_topic = newest_matches(stores, request, work, question.newest)
        terms = question.forms.words
        aside = {n for n, d in documents.items() if standing(d.path, d.tags, d.content_type, terms) < FULL}
        if aside.issuperset(documents) or (is_line and not has_kind):
            return work
        pairs = successions_from(stores.documents, stores.successions, documents, request.as_of)
        superseded = {older for older, newer in successors(pairs).items() if newer}
        order = newest_first(documents, superseded | aside)
        trace.note(f"the question asks for the newest: {len(order)} match, the newest first")
        confidence = {}
        if has_kind and (is_line or not has_topic):
            confidence = dict.fromkeys(order, POSSIBLE) | {order[0]: SELECTED}
    elif not question.topic and (
        question.named_time
        or request.scope.authored_from
        or request.scope.authored_until not in (None, request.as_of)
        or request.content_types
        or request.tags
        or request.where
    ):
        documents, order, less = notes_of_time(stores, request, work)
        if is_line:
            order = [number for number in order if documents[number].has_own_date]
        if not order:
            return work
        trace.note(f"no topic: all {len(order)} notes of the time, newest first")
        is_open = (
            question.named_time is not None and None in question.named_time[:2]
        )  # "until May" selects too many
        confidence = dict.fromkeys(order, BY_TIME_OF_FILE if is_open else SELECTED)
        confidence |= dict.fromkeys(less, BY_TIME_OF_FILE)
        most, others = 3, 0.05  # notes among lines, and the most for one of another time
        if is_line:
            confidence = dict.fromkeys(order, POSSIBLE) | dict.fromkeys(order[:most], SELECTED)
            others = 1.0
    else:
        return work
    by_date = DateOrder(tuple(order[:MOST_BROUGHT]), confidence, others)
    first = {c.document_id: c for c in reversed(work.candidates)}
    selected = [
        first.get(n) or Candidate(n, FragmentKey(n, 0), 0.0, 0.0, document=documents[n])
        for n in by_date.order[: most if is_line else None]
    ]
    if is_line:
        selected = [c.with_relevance(1.0 - place * APART) for place, c in enumerate(selected)]
    chosen = {c.best for c in selected}
    remaining = [c for c in work.candidates if c.best not in chosen]
    return work.with_candidates([*selected, *remaining])._replace(by_date=by_date)


def newest_matches(
    stores: RetrievalStores, request: RetrievalRequest, work: Work, newest: NewestQuestion
) -> tuple[Mapping[int, Document], bool, bool]:
    """
    Return the notes among which the newest is meant, and whether they have its kind, and its topic.

    Without a topic these are all notes in scope of the kind, or in a folder or with a tag of that name; else the
    candidates of the kind that match about as well as the best one, or without one of the kind all of these.
    """

    def is_of_kind(document: Document) -> bool:
        names = (*document.path.split("/")[:-1], *document.tags)
        if newest.noun and any(is_same_word(newest.noun, name.casefold()) for name in names):
            return True
        return newest.kind == document.content_type or (newest.kind == ANY_KIND and not newest.noun)

    topic = [word for word in newest.topic if not is_same_word(word, newest.noun)]
    if not topic and (latest := [d for d in stores.documents.latest(request.scope) if is_of_kind(d)]):
        return {d.id: d for d in latest}, True, False
    best = max((c.relevance for c in work.candidates), default=0.0)
    near = work.texts.documents(c.document_id for c in work.candidates if c.relevance >= COMPARABLE * best)
    of_kind = {number: document for number, document in near.items() if is_of_kind(document)}
    return of_kind or near, bool(of_kind) and newest.kind != ANY_KIND, True


def notes_of_time(
    stores: RetrievalStores, request: RetrievalRequest, work: Work
) -> tuple[dict[int, Document], list[int], set[int]]:
    """
    Return the active notes in scope that were written in the time that the question names, and their order.

    To those of a day belong notes with a section of that date. Last come the notes whose time says less: that of a
    file, or of a text of others.
    """
    question, named = request.question, request.question.named_time
    # The scope has only documents of the types, tags and properties.
    ids = {*stores.documents.ids(scope_within(request.scope, named) if named else request.scope)}
    # The name of a diary of the named day, month or year, such as 2026-03.
    period, first = "", (named and named.recorded_from) or ""
    start, end = parse_iso(first), parse_iso((named and named.authored_until) or "")
    days = 0 if start is None or end is None else round((end - start) / DAY_MS)
    if days == 1:
        period = first[:DAY]
    elif 28 <= days <= 31 and first[8:10] == "01":
        period = first[: len("2026-03")]
    elif days in (365, 366) and first[5:10] == "01-01":
        period = first[: len("2026")]
    if len(period) == DAY:
        numbers = period.split("-")
        dated = LexicalQuery(tuple(map(Term, numbers)), every=True)
        hits = stores.lexical.search(dated, Grain.LINE, MOST_BROUGHT, request.scope)
        for key, span in work.texts.spans(hit.key for hit in hits).items():
            if all(number in span.heading.rpartition(" › ")[2] for number in numbers):
                ids.add(key.document_id)
    documents = {n: d for n, d in stores.documents.many(ids).items() if d.inactive is None}

    def place(number: int) -> tuple[bool, bool, bool]:
        document = documents[number]
        is_other_kind = document.content_type not in question.kinds
        is_entry = document.display_path.startswith(f"{OWN_COLLECTION}/diary/")
        is_of_others = is_other_kind and not is_own(document) and not is_entry
        return is_other_kind, is_of_others, file_name(document.path) != period and not is_entry

    order = sorted(newest_first(documents), key=place)
    less = {number for number in order if place(number)[1] or not documents[number].has_own_date}
    return documents, order, less


def newest_first(documents: Mapping[int, Document], last: Collection[int] = ()) -> list[int]:
    """Return *documents*, the newest first, then those dated by their file, maybe of a copy, and at the end those in *last*."""
    by_date = sorted(documents, key=lambda number: (documents[number].authored_at, number), reverse=True)
    return sorted(by_date, key=lambda number: (number in last, not documents[number].has_own_date))
