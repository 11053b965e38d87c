"""Documents that a question selects by date: the newest of a kind or about a topic, and those of a named time."""

from collections.abc import Mapping

from clawmem.app.services.documents.days import DAY, MONTH, Sections, sections_of_days
from clawmem.app.services.documents.succession import successions_from
from clawmem.app.services.retrieval.request import RetrievalRequest, Unit, scope_within
from clawmem.app.services.retrieval.retrieve import sections_around
from clawmem.app.services.retrieval.work import Candidate, DateOrder, RetrievalStores, Trace, Work
from clawmem.domain.documents.names import OWN_COLLECTION, file_name
from clawmem.domain.documents.times import DAY_MS, iso_utc, parse_iso
from clawmem.domain.retrieval.calibrated import FULL, is_own, standing
from clawmem.domain.retrieval.question import ANY_KIND, NewestQuestion
from clawmem.domain.retrieval.relevance import POSSIBLE
from clawmem.domain.retrieval.versions import successors
from clawmem.domain.text.likeness import has_words, is_same_word
from clawmem.domain.text.written_dates import days_text
from clawmem.ports.records import Document, FragmentKey, FragmentKind

# Confidence of the newest note of a kind ("the latest handoff") and of those of a time, which match by type and date alone.
# Not fitted: an estimate of how often these are recognised correctly in the question and the note.
SELECTED = 0.8
BY_TIME_OF_FILE = 0.3  # maximum for a note that is only dated by its file, or of an open time
OTHER_TIME = 0.05  # maximum for a note of another time
COMPARABLE = 0.7  # share of the best relevance; less relevant notes are not ordered by date
MOST_BROUGHT = 100  # notes of a kind or time
YEAR = len("2026")
APART = 0.15  # difference in relevance between these: more than metadata can change


def select_by_date(stores: RetrievalStores, request: RetrievalRequest, work: Work, trace: Trace) -> Work:
    """
    Set `Work.by_date` and add the documents that it names to the candidates.

    A question for the newest selects the notes of the kind or folder that it names, or else the candidates, which cover
    its topic about as well as the best one; superseded notes, drafts and copies come last. A named time without a
    topic, or a request restricted to days, a type, a tag or a property, selects all notes of it, those of the kind that
    is asked for first, then the diary of that day, month or year, then what the owner did not write; without any, the
    notice of *trace* says so. Of lines, only the first notes of a kind or time become candidates, as a whole.
    """
    question, is_line = request.question, request.unit is Unit.LINE
    work = in_sections_of_days(request, work)
    others, most = 1.0, 1
    if question.newest is not None:
        documents, has_kind, has_topic = newest_matches(stores, request, work, question.newest)
        aside = {n for n, d in documents.items() if standing(d, question.forms.words) < FULL}
        if aside.issuperset(documents) or (is_line and not has_kind):
            return work
        pairs = successions_from(stores.documents, stores.successions, documents, request.as_of)
        superseded = {older for older, newer in successors(pairs).items() if newer}
        # Those dated by their file, maybe of a copy, come after the others; what is planned has not taken place.
        planned = {n for n, d in documents.items() if (parse_iso(d.authored_at) or 0) > question.now_ms}
        last = superseded | aside | planned
        numbers = sorted(documents, key=lambda n: (documents[n].authored_at, n), reverse=True)
        numbers.sort(key=lambda n: (n in last, not documents[n].has_own_date))
        order = [Candidate(n, FragmentKey(n, 0), 0.0, 0.0, document=documents[n]) for n in numbers]
        trace.note(f"the question asks for the newest: {len(order)} match, the newest first")
        confidence = {}
        if has_kind and (is_line or not has_topic):
            confidence = dict.fromkeys(numbers, POSSIBLE) | {numbers[0]: SELECTED}
    elif not question.topic and (
        question.named_time or request.days or request.content_types or request.tags or request.where
    ):
        order, less = notes_of_time(stores, request, work)
        if (named := question.named_time) and not order:
            if named.authored_from and (parse_iso(named.authored_from) or 0) > question.now_ms:
                return work  # notes of today may tell of it
            trace.notice = f"No note is of that time ({days_text(*named.days(question.zone))})."
            # Another note may name that date, but not "last week".
            others = (
                BY_TIME_OF_FILE
                if any(map(str.isdigit, question.text[named.start : named.end]))
                else OTHER_TIME
            )
            return work._replace(by_date=DateOrder(others=others))
        if is_line:
            order = [c for c in order if c.span or (c.document and c.document.has_own_date)]
        if not order:
            return work
        trace.note(f"no topic: all {len(order)} notes of the time, newest first")
        is_open = question.named_time and None in question.named_time[:2]  # "until May" selects too many
        numbers = [c.document_id for c in order]
        confidence = dict.fromkeys(numbers, BY_TIME_OF_FILE if is_open else SELECTED)
        confidence |= dict.fromkeys(less, BY_TIME_OF_FILE)
        most, others = 3, OTHER_TIME  # notes among lines
        if is_line:
            confidence = dict.fromkeys(numbers, POSSIBLE) | dict.fromkeys(numbers[:most], SELECTED)
            others = 1.0
    else:
        return work
    first = {c.document_id: c for c in reversed(work.candidates)}
    order = [c if c.span else first.get(c.document_id, c) for c in order[:MOST_BROUGHT]]
    by_date = DateOrder(tuple(c.best for c in order), confidence, others)
    selected = order[: most if is_line else None]
    if is_line:
        selected = [c.with_relevance(1.0 - place * APART) for place, c in enumerate(selected)]
    chosen = {c.best if is_line else c.document_id for c in selected}
    remaining = [c for c in work.candidates if (c.best if is_line else c.document_id) not in chosen]
    return work.with_candidates([*selected, *remaining])._replace(by_date=by_date)


def newest_matches(
    stores: RetrievalStores, request: RetrievalRequest, work: Work, newest: NewestQuestion
) -> tuple[Mapping[int, Document], bool, bool]:
    """
    Return the notes among which the newest is meant, and whether they have its kind, and its topic.

    Without a topic these are all notes in scope of the kind, or in a folder or with a tag of that name, and so are those
    of the kind that carry the topic as a folder or tag ("the latest commission meeting"); else the candidates of the
    kind that match about as well as the best one, or without one of the kind all of these.
    """

    def carries(document: Document, *nouns: str) -> bool:
        names = "/".join([document.content_type, *document.path.split("/")[:-1], *document.tags]).split("/")
        return all(any(is_same_word(noun, name.casefold()) for name in names) for noun in nouns)

    def is_of_kind(document: Document) -> bool:
        if newest.noun:
            return newest.kind == document.content_type or carries(document, newest.noun)
        return newest.kind in (document.content_type, ANY_KIND)

    topic = [word for word in newest.topic if not is_same_word(word, newest.noun)]
    every = stores.documents.latest(request.scope) if not topic or newest.kind != ANY_KIND else []
    if latest := {d.id: d for d in every if is_of_kind(d) and carries(d, *topic)}:
        return latest, True, False
    best = max((c.relevance for c in work.candidates), default=0.0)
    near = work.texts.documents(c.document_id for c in work.candidates if c.relevance >= COMPARABLE * best)
    of_kind = {number: document for number, document in near.items() if is_of_kind(document)}
    return of_kind or near, bool(of_kind) and newest.kind != ANY_KIND, True


def notes_of_time(
    stores: RetrievalStores, request: RetrievalRequest, work: Work
) -> tuple[list[Candidate], set[int]]:
    """
    Return the active notes in scope that were written in the time that is asked for, in order, and the less likely.

    Of notes with sections of single days, these are the sections of that time. Last come the notes whose time says
    less: that of a file, or of a text of others.
    """
    question, named = request.question, request.question.named_time
    # The scope has only documents of the types, tags and properties.
    scope = scope_within(request.scope, named, question.zone) if named else request.scope
    first, last = named.days(question.zone) if named else ("", "")
    since, until = request.days or ("", "")
    tomorrow = iso_utc(question.now_ms + DAY_MS)[:DAY]
    start, end = parse_iso(max(first, since)), parse_iso(min(last or tomorrow, until or tomorrow))
    # At most a year and a day, with the days before and after.
    count = min((end - start) // DAY_MS + 1, 367) if start is not None and end is not None else 0
    around = [iso_utc(start + n * DAY_MS)[:DAY] for n in range(-1, count + 1)] if start is not None else []
    days = around[1:-1]
    # A diary of the day, month or year is named like the beginning of its dates, such as 2026-03.
    names = [first[:length] for first in days[:1] for length in (YEAR, MONTH, DAY)]
    names = [name for name in names if [day for day in around if day.startswith(name)] == days]
    sections: Sections = request.sections
    if not 0 < len(days) <= 31:
        sections = {} if named else {number: spans[-1:] for number, spans in sections.items()}
    elif named:
        by_note = sections_of_days(stores.documents, request.scope, days[0], days[-1])
        sections = {number: spans for number, spans in by_note.items() if spans}
    ids = stores.documents.ids(scope) | sections.keys()
    documents = {n: d for n, d in stores.documents.many(ids).items() if d.inactive is None}

    def place(c: Candidate) -> tuple[bool, bool, bool, bool]:
        document = documents[c.document_id]
        is_other_kind = document.content_type not in question.kinds
        is_entry = document.domain == "user" and document.display_path.startswith(f"{OWN_COLLECTION}/diary/")
        is_note = is_own(document) and document.collection != OWN_COLLECTION
        is_of_others = is_other_kind and not (is_note or is_entry)
        is_diary = is_entry or c.document_id in sections or file_name(document.path) in names
        return is_other_kind, is_of_others, not is_diary, c.span is None and not document.has_own_date

    order = [
        Candidate(n, span.key if span else FragmentKey(n, 0), 0.0, 0.0, document=document, span=span)
        for n, document in documents.items()
        for span in sections.get(n, [None])
    ]
    times = {n: document.authored_at for n, document in documents.items()}
    order.sort(key=lambda c: (c.span.label if c.span else times[c.document_id], c.document_id), reverse=True)
    order.sort(key=place)
    return order, {c.document_id for c in order if place(c)[1] or place(c)[3]}


def in_sections_of_days(request: RetrievalRequest, work: Work) -> Work:
    """Place candidates in the sections of the days of the request; a note in that of its best line, or with most words."""
    sections, words, candidates = request.sections, request.question.forms.words, list[Candidate]()
    if not sections:
        return work
    spans = work.texts.spans(c.best for c in work.candidates)
    bodies = work.texts.bodies(sections.keys() & {c.document_id for c in work.candidates})
    for c in work.candidates:
        parts, found = [*filter(None, sections.get(c.document_id, ()))], c.span or spans.get(c.best)
        around = sections_around(found, parts) if found else []
        around = around or (parts if request.unit is Unit.DOCUMENT else [])
        if around and not (c.span and c.span.kind is FragmentKind.LINE):
            texts = [bodies[c.document_id][part.start : part.end] for part in around]
            counts = [sum(has_words(words, text)) for text in texts]
            c = c._replace(span=around[counts.index(max(counts))])
        candidates += [c] if around or not parts else []
    return work.with_candidates(candidates)
