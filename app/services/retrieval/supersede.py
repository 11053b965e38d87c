"""Order of superseded notes, their successors, and other versions of a subject."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from clawmem.app.services.documents.succession import successions_from
from clawmem.app.services.retrieval.request import RetrievalRequest, Unit
from clawmem.app.services.retrieval.work import Candidate, RetrievalStores, Trace, Work
from clawmem.domain.capture.cues import answering_sentences
from clawmem.domain.retrieval import versions
from clawmem.domain.retrieval.query_forms import content_words
from clawmem.domain.retrieval.relevance import SHORT_NOTE
from clawmem.domain.text.likeness import has_words, is_copy, possible_copies, without_conflict
from clawmem.ports.records import FragmentKey

SUCCESSION, VERSION = "succession", "version"  # names of terms in the score
ABOVE = 1e-6  # by which the score of a note exceeds that of a note it comes above


def supersede(
    stores: RetrievalStores, request: RetrievalRequest, work: Work, trace: Trace, *, of_lines: bool = False
) -> Work:
    """
    Lift the version of a subject that the question means above the others.

    Successors come above the notes that they supersede, and are added if they were not found, unless the question asks
    for the past. Versions that no relation joins are notes of one folder whose names differ only in their version
    ("energy 2025", "energy 2026"), and decisions about one subject; they must match about equally well. Lines, the best
    one of each note, are arranged only if *of_lines*. A one-line successor of another line than the one that answers
    comes below: "The plumber is Jo Tan now" replaces one fact of a page.
    """
    if request.unit is Unit.LINE and not of_lines:
        return work
    question = request.question
    is_past = question.version in (versions.Wanted.FORMER, versions.Wanted.EARLIEST)
    found = {c.document_id for c in work.candidates}
    pairs = successions_from(stores.documents, stores.successions, found, request.as_of)
    newer = versions.successors(pairs)
    lesser = {*_of_other_lines(request, work, newer)}
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
    years = versions.years_in(question.text)  # "prices 2025" is the note of that name
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
        names = {number: note.path for number in order if (note := listed[number].document)}
        order.sort(key=lambda number: years.isdisjoint(versions.years_in(names[number])))
        for place in range(len(order) - 2, -1, -1):
            _lift(listed, order[place], order[place + 1 :], VERSION)
    places = {(note.collection, note.path): note for c in listed.values() if (note := c.document)}
    copies = [(note, places[place]) for note, place in possible_copies(places.values(), places)]
    bodies = work.texts.bodies(note.id for pair in copies for note in pair)
    for copy, original in copies:
        if is_copy(copy, original, bodies):
            _lift(listed, original.id, [copy.id], VERSION)
            if without_conflict(copy.path) == original.path:
                listed[copy.id] = listed[copy.id]._replace(changed_by=original)
    arranged = [listed.pop(c.document_id, c) for c in candidates]
    return work.with_candidates(sorted(arranged, key=lambda c: -c.score))


def _of_other_lines(
    request: RetrievalRequest, work: Work, newer: Mapping[int, Collection[int]]
) -> Iterator[tuple[int, int]]:
    """
    Yield pairs of a page and a one-line successor that has none of the words of the question, or two fewer than the page,
    and no word of the line that answers.
    """
    pages = (c for c in reversed(work.candidates) if c.document and c.document.body_length > SHORT_NOTE)
    best = {c.document_id: c.best for c in pages if c.document_id in newer}
    spans = work.texts.spans(best.values())
    wanted, phrases = request.question.forms.words, request.question.phrases
    for page, key in best.items():
        numbers = [page, *newer[page]]
        bodies, documents = work.texts.bodies(numbers), work.texts.documents(numbers)
        found = bodies[page][span.start : span.end] if (span := spans.get(key)) else ""
        line = content_words(answering_sentences(found, wanted))
        for number in (n for n, document in documents.items() if document.body_length <= SHORT_NOTE):
            hits = [sum(has_words(wanted, bodies.get(n, ""), phrases)) for n in (page, number)]
            others = {*content_words(bodies[number])} - {*wanted, *content_words(documents[page].title)}
            if hits[0] and hits[1] < max(1, hits[0] - 1) and others.isdisjoint(line):
                yield page, number


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

    Those of *lesser*, pairs of a note and a successor, come directly below the note.
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
