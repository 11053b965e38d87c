"""Order of superseded notes, their successors, other versions of a subject, and notes that say what changed."""

from collections.abc import Collection, Mapping, Sequence
from functools import cache

from clawmem.app.services.documents.succession import successions_from
from clawmem.app.services.retrieval.request import RetrievalRequest, Unit
from clawmem.app.services.retrieval.work import Candidate, RetrievalStores, Trace, Work
from clawmem.domain.retrieval import versions
from clawmem.domain.retrieval.query_forms import content_words
from clawmem.domain.retrieval.relevance import SHORT_NOTE
from clawmem.domain.text.likeness import has_words, is_copy, possible_originals, without_conflict
from clawmem.ports.records import FragmentKey, FragmentKind

SUCCESSION, VERSION, CHANGE = "succession", "version", "change"  # names of terms in the score
ABOVE = 1e-6  # by which the score of a note exceeds that of a note it comes above
AROUND = 100  # characters before and after the line that answers
DAY = len("2026-03-31")


def supersede(
    stores: RetrievalStores, request: RetrievalRequest, work: Work, trace: Trace, *, of_lines: bool = False
) -> Work:
    """
    Lift the version of a subject that the question means above the others.

    Successors come above the notes that they supersede, and are added if they were not found, unless the question asks
    for the past. Versions that no relation joins are notes of one folder whose names differ only in their version
    ("energy 2025", "energy 2026"), and decisions about one subject; they must match about equally well. Lines, the best
    one of each note, are arranged only if *of_lines*. A one-line successor that lacks two words of the question which
    the older note has is none.
    """
    if request.unit is Unit.LINE and not of_lines:
        return work
    question = request.question
    is_past = question.version in (versions.Wanted.FORMER, versions.Wanted.EARLIEST)
    found = {c.document_id for c in work.candidates}
    pairs = successions_from(stores.documents, stores.successions, found, request.as_of)
    newer = versions.successors(pairs)
    # "The plumber is Jo Tan now" replaces one fact of a page; a question about other facts of the page means the page.
    ids = {*newer, *(n for those in newer.values() for n in those)}
    documents, bodies = work.texts.documents(ids), work.texts.bodies(ids)
    short = {n for n, document in documents.items() if document.body_length <= SHORT_NOTE}
    asked, phrases = question.forms.words, question.phrases
    hits = {n: sum(has_words(asked, body, phrases)) for n, body in bodies.items()}
    lesser = {
        (page, number)
        for page in newer.keys() - short
        for number in newer[page] & short
        if hits.get(number, 0) < hits.get(page, 0) - 1
    }
    candidates: Sequence[Candidate] = work.candidates
    if pairs and not is_past:
        candidates = with_successors(stores, work, request, newer, lesser)
    elif pairs:
        trace.note("the question asks for what was before")
    listed = {c.document_id: c for c in reversed(candidates) if c.document}
    if not is_past:
        for number in sorted(listed, key=lambda n: -len(newer.get(n, ()))):  # the oldest first
            for other in [other for other in listed if number in newer.get(other, ())]:
                _lift(listed, number, [other], SUCCESSION, -ABOVE if (other, number) in lesser else ABOVE)
    until = question.named_time and question.named_time.authored_until
    families: dict[tuple[str, ...], list[int]] = {}  # by collection and subject
    for number, document in ((n, c.document) for n, c in listed.items() if c.document):
        is_decision = document.content_type == "decision"
        subjects = set(versions.decision_subjects(document.path)) if is_decision else set()
        if subject := versions.subject_name(document.path):
            subjects.add(subject)
        keys = {(document.collection, *subject) for subject in subjects}
        family = next((families[key] for key in sorted(keys) if key in families), [])
        family.append(number)
        families.update(dict.fromkeys(keys - families.keys(), family))
    for family in {family[0]: family for family in families.values()}.values():
        least = versions.COMPARABLE * max(listed[number].relevance for number in family)
        dated = {
            number: (len(newer.get(number, ())), note.authored_at)
            for number in family
            if (note := listed[number].document) and listed[number].relevance >= least
        }
        order = versions.in_wanted_order(dated, question.version, until)
        for place in range(len(order) - 2, -1, -1):
            _lift(listed, order[place], order[place + 1 :], VERSION)
    notes = {c.document.display_path: c.document for c in listed.values() if c.document}
    places = [(note, path) for place, note in notes.items() for path in possible_originals(place)]
    for copy, original in ((note, notes.get(path)) for note, path in places):
        if original and is_copy(copy, original, work.texts.bodies([original.id, copy.id])):
            _lift(listed, original.id, [copy.id], VERSION)
            if without_conflict(copy.path) == original.path:
                listed[copy.id] = listed[copy.id]._replace(changed_by=original)
    arranged = [listed.pop(c.document_id, c) for c in candidates]
    return work.with_candidates(sorted(arranged, key=lambda c: -c.score))


def _lift(
    listed: dict[int, Candidate], number: int, below: Sequence[int], term: str, by: float = ABOVE
) -> None:
    """Give the candidate of the document *number* at least the scores of the documents *below*, and *by* more."""
    least = max((listed[other].score + by for other in below), default=0.0)
    if below:  # the term tells also one that is above already
        listed[number] = listed[number].plus(term, max(0.0, least - listed[number].score))


def with_successors(
    stores: RetrievalStores,
    work: Work,
    request: RetrievalRequest,
    newer: Mapping[int, Collection[int]],
    lesser: Collection[tuple[int, int]] = (),
) -> list[Candidate]:
    """
    Return the candidates and the last visible successors that are missing, each with the score of the note it replaces.

    The successors of *lesser*, pairs of a note and a successor, come directly below the note.
    """
    known, scope = {c.document_id for c in work.candidates}, request.scope
    missing = frozenset(n for those in newer.values() for n in those) - known
    within = missing if scope.documents is None else missing & scope.documents
    documents = work.texts.documents(stores.documents.ids(scope._replace(documents=within)))
    arranged: list[Candidate] = []
    for candidate in work.candidates:
        seen = {n for n in newer.get(candidate.document_id, ()) if n in known or n in documents}
        last = {n for n in seen if seen.isdisjoint(newer.get(n, ()))}
        arranged += [
            Candidate(
                n,
                FragmentKey(n, 0),
                candidate.relevance,
                score := candidate.score - ABOVE * ((candidate.document_id, n) in lesser),
                terms={SUCCESSION: score},
                document=documents[n],
            )
            for n in sorted(last - known)
        ]
        known |= last
        arranged.append(candidate)
    return arranged


def mark_changes(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
    """
    Put a note whose text says what changed directly above the older note that it changes, and mark the older one.

    Not if the question asks for the past. Turns of chats do not count: people say "now" without a decision. A note
    without a date of its own changes none, as its file may have been copied.
    """
    question = request.question
    if question.version in (versions.Wanted.FORMER, versions.Wanted.EARLIEST) or question.named_time:
        return work
    documents = {c.document_id: c.document for c in work.candidates if c.document}
    best = {c.document_id: c for c in reversed(work.candidates)}
    least = versions.COMPARABLE * max((c.relevance for c in work.candidates), default=0.0)
    first = [n for n in list(documents)[:10] if best[n].relevance >= least]
    spans = work.texts.spans(best[n].best for n in first)
    lines = {key: span.label for key, span in spans.items() if span.kind is FragmentKind.LINE}
    turns = {key for key, speaker in lines.items() if speaker and not versions.CORRECTION.match(speaker)}
    first = [n for n in first if best[n].best not in turns]
    dated = [n for n in first if documents[n].has_own_date]
    bodies = work.texts.bodies(first)
    # A correction may be of the same day.
    until = {n: None if versions.CORRECTION.match(bodies.get(n, "")) else DAY for n in dated}
    topic = content_words(question.text)
    order = list(work.candidates)

    @cache  # and only where a note says what changed: a text may have megabytes
    def hits(number: int) -> list[bool]:
        text = f"{documents[number].title} {bodies.get(number, '')}"
        return has_words(question.forms.words, text, question.phrases)

    def is_about(number: int, older: int) -> bool:
        """Whether a note has a word of the question that titles the *older* one, if any does, and enough of the others."""
        named = has_words(question.forms.words, documents[older].title, question.phrases)
        shared = [has for has, is_named in zip(hits(number), named, strict=True) if is_named]
        return (any(shared) or not shared) and sum(hits(older)) < sum(hits(number)) + 2

    for older in first:
        span, note = spans.get(best[older].best), documents[older]
        start, end = (span.start, span.end) if span else (0, 0)
        passage = f"{note.title}\n{bodies.get(older, '')[max(0, start - AROUND) : end + AROUND]}"
        read = min(d.indexed_at for d in documents.values() if d.collection == note.collection)
        is_old = note.may_be_copied(read)
        later = (
            n for n in dated if is_old or documents[n].authored_at[: until[n]] > note.authored_at[: until[n]]
        )
        newer = [n for n in later if versions.states_change(bodies.get(n, ""), topic, passage)]
        newer = [n for n in newer if is_about(n, older)]
        if not newer:
            continue
        last = max(newer, key=lambda number: documents[number].authored_at)
        trace.note(f"{note.display_path} may be changed by {documents[last].display_path}")
        order = [c._replace(changed_by=documents[last]) if c.document_id == older else c for c in order]
        ids = [c.document_id for c in order]
        if (place := ids.index(older)) < (at := ids.index(last)):
            lift = max(0.0, order[place].score + ABOVE - order[at].score)
            order.insert(place, order.pop(at).plus(CHANGE, lift))
    return work.with_candidates(order)
