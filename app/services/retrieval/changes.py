"""Notes that a newer note changes in a sentence of its text, without a declared succession."""

from __future__ import annotations

from clawmem.app.services.retrieval.dates import has_time_of_file
from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.work import Trace, Work
from clawmem.domain.retrieval.changes import states_change
from clawmem.domain.retrieval.query_forms import content_words
from clawmem.domain.retrieval.versions import Wanted
from clawmem.ports.records import FragmentKind

CHANGE = "change"  # name of a term in the score
ABOVE = 1e-6  # by which the score of a note exceeds that of the note it comes above
MOST_CHANGED, MOST_CHANGING = (
    3,
    10,
)  # first notes that may be changed, and among which the newer one is searched
COMPARABLE = 0.3  # share of the best relevance that both have at least
AROUND = 100  # characters before and after the line that answers
DAY = len("2026-03-31")


def mark_changes(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
    """
    Put a note whose text says what changed directly above the older note that it changes, and mark the older one.

    A question about the past or about a named time leaves the order as it is. Turns of chats neither change nor are changed:
    people say "now" without a decision. Nor does a note without a date of its own, whose file may have been copied. Of lines, the best of each note counts.
    """
    question = request.question
    if question.version in (Wanted.FORMER, Wanted.EARLIEST) or question.named_time:
        return work
    documents = {c.document_id: c.document for c in work.candidates if c.document}
    best = {c.document_id: c for c in reversed(work.candidates)}
    least = COMPARABLE * max((c.relevance for c in work.candidates), default=0.0)
    first = [n for n in list(documents)[:MOST_CHANGING] if best[n].relevance >= least]
    spans = work.texts.spans(best[n].best for n in first)
    turns = {key for key, span in spans.items() if span.kind is FragmentKind.LINE and span.label}
    first = [n for n in first if best[n].best not in turns]
    bodies = work.texts.bodies(first)
    topic = content_words(question.text)
    order = list(work.candidates)
    for older in first[:MOST_CHANGED]:
        span, note = spans.get(best[older].best), documents[older]
        start, end = (span.start, span.end) if span else (0, 0)
        passage = f"{note.title}\n{bodies.get(older, '')[max(0, start - AROUND) : end + AROUND]}"
        later = (
            n
            for n in first
            if documents[n].authored_at[:DAY] > note.authored_at[:DAY] and not has_time_of_file(documents[n])
        )
        newer = [n for n in later if states_change(bodies.get(n, ""), topic, passage)]
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
