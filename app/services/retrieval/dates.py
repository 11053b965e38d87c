"""Documents that a question selects by date: the newest of a kind or about a topic, and those of a named time."""

from collections.abc import Mapping, Sequence

from clawmem.app.services.documents.succession import successions_from
from clawmem.app.services.retrieval.request import RetrievalRequest, Unit
from clawmem.app.services.retrieval.retrieve import scope_within
from clawmem.app.services.retrieval.work import Candidate, DateOrder, RetrievalStores, Trace, Work
from clawmem.domain.documents.diary import day_sections
from clawmem.domain.documents.markdown import Markdown
from clawmem.domain.documents.names import OWN_COLLECTION, file_name
from clawmem.domain.documents.times import DAY_MS, iso_utc, parse_iso
from clawmem.domain.retrieval.calibrated import FULL, is_own, standing
from clawmem.domain.retrieval.question import ANY_KIND, NewestQuestion
from clawmem.domain.retrieval.relevance import POSSIBLE
from clawmem.domain.retrieval.versions import successors
from clawmem.domain.text.dates import days_text
from clawmem.domain.text.likeness import is_same_word
from clawmem.domain.text.written_dates import day_in
from clawmem.ports.records import Document, FragmentKey, Grain, LexicalQuery, Span, Term

# Confidence of the newest note of a kind ("the latest handoff") and of those of a time, which match by type and date alone.
# Not fitted: an estimate of how often these are recognised correctly in the question and the note.
SELECTED = 0.8
BY_TIME_OF_FILE = 0.3  # maximum for a note that is only dated by its file, or of an open time
OTHER_TIME = 0.05  # maximum for a note of another time
COMPARABLE = 0.7  # share of the best relevance; less relevant notes are not ordered by date
MOST_BROUGHT = 100  # notes of a kind, or lines with the date of a day
YEAR, MONTH, DAY = len("2026"), len("2026-03"), len("2026-03-31")
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
    others, most = 1.0, 1
    if question.newest is not None:
        documents, has_kind, has_topic = newest_matches(stores, request, work, question.newest)
        terms = question.forms.words
        aside = {n for n, d in documents.items() if standing(d.path, d.tags, d.content_type, terms) < FULL}
        if aside.issuperset(documents) or (is_line and not has_kind):
            return work
        pairs = successions_from(stores.documents, stores.successions, documents, request.as_of)
        superseded = {older for older, newer in successors(pairs).items() if newer}
        # Those dated by their file, maybe of a copy, come after the others.
        last = superseded | aside
        numbers = sorted(documents, key=lambda n: (documents[n].authored_at, n), reverse=True)
        numbers.sort(key=lambda n: (n in last, not documents[n].has_own_date))
        order = [Candidate(n, FragmentKey(n, 0), 0.0, 0.0, document=documents[n]) for n in numbers]
        trace.note(f"the question asks for the newest: {len(order)} match, the newest first")
        confidence = {}
        if has_kind and (is_line or not has_topic):
            confidence = dict.fromkeys(numbers, POSSIBLE) | {numbers[0]: SELECTED}
    elif not question.topic and (
        question.named_time
        or request.scope.authored_from
        or request.scope.authored_until not in (None, request.as_of)
        or request.content_types
        or request.tags
        or request.where
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
) -> tuple[list[Candidate], set[int]]:
    """
    Return the active notes in scope that were written in the time that is asked for, in order, and the less likely.

    Of notes with sections of single days, these are the sections of that time. Last come the notes whose time says
    less: that of a file, or of a text of others.
    """
    question, named = request.question, request.question.named_time
    # The scope has only documents of the types, tags and properties.
    scope = scope_within(request.scope, named) if named else request.scope
    end = parse_iso(scope.authored_until or "") or question.now_ms
    start = parse_iso(scope.authored_from or "") or end
    # At most a year and a day, with the days before and after; in the most eastern zone midnight is 14 hours earlier.
    steps = range(min(round((end - start) / DAY_MS), 367) + 2)
    around = [iso_utc(start + n * DAY_MS - 10 * 3_600_000)[:DAY] for n in steps]
    days = around[1:-1]
    # A diary of the day, month or year is named like the beginning of its dates, such as 2026-03.
    names = [first[:length] for first in days[:1] for length in (YEAR, MONTH, DAY)]
    names = [name for name in names if [day for day in around if day.startswith(name)] == days]
    sections = sections_of_days(stores, request, work, days) if 0 < len(days) <= 31 else {}
    ids = stores.documents.ids(scope) | sections.keys()
    documents = {n: d for n, d in stores.documents.many(ids).items() if d.inactive is None}

    def place(c: Candidate) -> tuple[bool, bool, bool, bool]:
        document = documents[c.document_id]
        is_other_kind = document.content_type not in question.kinds
        is_entry = document.display_path.startswith(f"{OWN_COLLECTION}/diary/")
        is_of_others = is_other_kind and not is_own(document) and not is_entry
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


def sections_of_days(
    stores: RetrievalStores, request: RetrievalRequest, work: Work, days: Sequence[str]
) -> dict[int, list[Span | None]]:
    """
    Return the sections of *days* in notes of their months, those named after the year, and those with the one day.

    Of a diary of the month without sections, a part of the month has all of it, as ``None``.
    """
    scope = request.scope._replace(authored_from=None, authored_until=request.as_of)
    months, years = ({day[:length] for day in days} for length in (MONTH, YEAR))
    ids = {
        note.id
        for note in stores.documents.latest(scope._replace(authored_from=days[0][:MONTH]))
        if note.authored_at[:MONTH] in months
        or (any(year in file_name(note.path) for year in years) and not day_in(file_name(note.path)))
    }
    if len(days) == 1:
        dated = LexicalQuery(tuple(map(Term, days[0].split("-"))), every=True)
        ids |= {hit.key.document_id for hit in stores.lexical.search(dated, Grain.LINE, MOST_BROUGHT, scope)}
    sections, bodies = dict[int, list[Span | None]](), work.texts.bodies(ids)
    for number, document in work.texts.documents(bodies).items():
        spans = [*day_sections(document, Markdown(bodies[number], document.body_line))]
        of_days = [span for span in spans if span.label in days]
        # A note of one day is not divided.
        if of_days and {span.label for span in spans} != {document.authored_at[:DAY]}:
            sections[number] = [*of_days]
        elif not spans and len(days) > 1 and {file_name(document.path)} == months:
            sections[number] = [None]
    return sections
