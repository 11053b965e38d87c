"""Steps of a prompt: the one that raises lines of the first notes, and the filters between retrieval and the block."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from clawmem.app.environment.session_topics import PROJECT, project_label, project_of
from clawmem.app.services.retrieval.compare import compare, fuse, weigh_vectors
from clawmem.app.services.retrieval.request import RetrievalRequest, Unit
from clawmem.app.services.retrieval.supersede import SUCCESSION
from clawmem.app.services.retrieval.work import Candidate, LoadedTexts, RetrievalStores, Stage, Trace, Work
from clawmem.domain.documents.names import OWN_COLLECTION
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.retrieval.relevance import SHORT_NOTE
from clawmem.domain.security.injections import has_injection, injection_within
from clawmem.domain.security.origin import is_verified
from clawmem.domain.surfacing.filters import MATCH, OTHER, activation, is_hidden, is_noise, is_on_topic
from clawmem.domain.surfacing.profiles import PROFILES, Profile, least_kept
from clawmem.domain.surfacing.turns import CONTEXT_SURFACING, Turns
from clawmem.ports.documents import PropertyStore
from clawmem.ports.models import LateInteraction
from clawmem.ports.records import Document
from clawmem.ports.sessions import CaptureStore, UsageStore
from clawmem.ports.telemetry import Telemetry

CONSIDERED = 60  # best candidates whose texts are read: no budget holds more


class Choices(NamedTuple):
    """
    Options of one prompt.

    Attributes:
        profile: Limits on tokens, results and time.
        topic: Topic of the session; empty if none is set.
        session_id: Session of the prompt. Its own texts are not repeated to it while they are in its context.
        compacted_at: Time of the session's last compaction. Texts captured later are still in its context.
        withheld: Ids of documents that are private or apply to other projects.
        loaded: Text that the client itself loaded into the context, with runs of whitespace collapsed.
        folder: Working folder of the session.
    """

    profile: Profile = PROFILES["balanced"]
    topic: str = ""
    session_id: str = ""
    compacted_at: str = ""
    withheld: frozenset[int] = frozenset()
    loaded: str = ""
    folder: str = ""


def first_notes(
    stores: RetrievalStores, late: LateInteraction | None, request: RetrievalRequest, work: Work, trace: Trace
) -> Work:
    """
    Raise the best line of each of the five notes that the command `query` would rank first.

    The line with most words of the prompt is often in another note than the one that answers as a whole.
    """
    steps: list[Stage] = [fuse, partial(weigh_vectors, stores.lexical)]
    if late:
        steps.insert(1, partial(compare, late))
    by_note = work
    for step in steps:
        by_note = step(request._replace(unit=Unit.DOCUMENT), by_note, trace)
    notes = by_note.candidates[:5]
    lines = {c.document_id: c for c in reversed(work.candidates)}
    least = 0.79 * max((c.relevance for c in work.candidates), default=0.0)
    spans = work.texts.spans(note.best for note in notes if note.document_id not in lines)
    raised = {}
    for note in notes:
        line = lines.get(note.document_id) or note._replace(relevance=0.0, span=spans.get(note.best))
        if line.span and line.relevance < least:
            raised[line.best] = line.with_relevance(least)
    return work.ranked([*(c for c in work.candidates if c.best not in raised), *raised.values()])


def not_to_share(document: Document, choices: Choices, now: str) -> str:
    """Return why no session sees *document* unasked, at the time *now* in record format; empty if it may."""
    if is_hidden(document.display_path, document.content_type):
        return "never surfaced from there"
    if document.id in choices.withheld:
        return "private, or of another project"
    return "snoozed" if document.is_snoozed(now) else ""


def visible(
    captures: CaptureStore, choices: Choices, request: RetrievalRequest, work: Work, trace: Trace
) -> Work:
    """Drop candidates that are hidden, snoozed, already in the conversation or without content."""
    now = iso_utc(request.question.now_ms)
    trace.drop(work.candidates[CONSIDERED:], "beyond what is considered")
    work = work.with_candidates(work.candidates[:CONSIDERED])
    work.texts.bodies(c.document_id for c in work.candidates)
    documents = {c.document_id: c.document for c in work.candidates if c.document and choices.session_id}
    in_context = {
        number
        for number, document in documents.items()
        if document.collection == OWN_COLLECTION
        for sighting in captures.sightings(number)
        if sighting.session_id == choices.session_id and sighting.seen_at > choices.compacted_at
    }

    def why(candidate: Candidate) -> str:
        document = candidate.document
        if document is None or (reason := not_to_share(document, choices, now)):
            return reason if document else "no longer there"
        if document.id in in_context:
            return "captured in this session"
        text = text_of(work.texts, candidate)
        if is_noise(text):
            return "without content"
        return "loaded by the client" if " ".join(text.split()) in choices.loaded else ""

    return _without(work, trace, why)


def focused(
    properties: PropertyStore, choices: Choices, request: RetrievalRequest, work: Work, trace: Trace
) -> Work:
    """Raise candidates about the topic, and lower the others if any is, and those of other projects."""
    topic, documents = choices.topic, {c.document_id: c.document for c in work.candidates if c.document}
    bodies = work.texts.bodies(documents) if topic else {}
    on_topic = {
        number
        for number, document in documents.items()
        if topic and is_on_topic(topic, document.title, document.display_path, bodies.get(number, ""))
    }
    factors = {number: MATCH if number in on_topic else OTHER for number in documents} if on_topic else {}
    project = project_of(choices.folder)
    every = properties.many(documents).items()
    labels = {n: project_label(given, project) for n, given in every if any(p.name == PROJECT for p in given)}
    for number, label in labels.items():
        # Captured notes, and others where this project has some too.
        if label and (documents[number].collection == OWN_COLLECTION or "" in labels.values()):
            factors[number] = factors.get(number, 1.0) * OTHER
    if not factors:
        return work
    candidates = [c.plus("focus", c.score * (factors.get(c.document_id, 1.0) - 1)) for c in work.candidates]
    return work.with_candidates(sorted(candidates, key=lambda c: (-c.score, c.best)))


def threshold(profile: Profile, request: RetrievalRequest, work: Work, trace: Trace) -> Work:
    """
    Keep likely candidates; none if the best is too weak.

    A candidate must have a share of the score of the best one; whether anything answers was decided before. The best line
    of its note must be no unlikely answer, as the line that answers often shares no words with the prompt but is next to
    one that does.
    """
    strengths = {c.best: min(1.0, max(0.0, c.score)) for c in work.candidates}
    best = max(strengths.values(), default=0.0)
    least = least_kept(best, profile)
    trace.note(f"best {best:.2f}, kept from {least:.2f}" if least is not None else f"best {best:.2f}, silent")
    of_note: dict[int, float] = {}
    for c in work.candidates:
        # What supersedes a likely note is shown with it, whatever it says itself.
        likely = 1.0 if c.confidence is None or SUCCESSION in c.terms else c.confidence
        of_note[c.document_id] = max(likely, of_note.get(c.document_id, 0.0))

    def why(candidate: Candidate) -> str:
        is_weak = least is None or strengths[candidate.best] < least
        document = candidate.document
        is_short = document is not None and document.body_length <= SHORT_NOTE
        possible = 0.1 if is_short else 0.03  # the answer may be elsewhere in a longer note
        return "unlikely" if is_weak or of_note[candidate.document_id] < possible else ""

    return _without(work, trace, why)


def activated(usage: UsageStore, request: RetrievalRequest, work: Work, trace: Trace) -> Work:
    """Raise documents used together with the best ones, by scores relative to the best."""
    best = max((c.score for c in work.candidates), default=0.0) or 1.0
    ranked: dict[int, float] = {}
    for candidate in work.candidates:
        ranked.setdefault(candidate.document_id, candidate.score / best)
    gains = activation(ranked, usage.partners)
    if not any(gains.values()):
        return work
    candidates = [
        c.plus("activation", min(best - c.score, best * gains[c.document_id])) for c in work.candidates
    ]
    return work.with_candidates(sorted(candidates, key=lambda c: (-c.score, c.best)))


def guarded(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
    """
    Drop texts that give orders, and texts of others next to an order or below a title with one.

    This step runs last, because reading the texts is slow. It keeps at most the ``limit`` of the request.
    """

    def why(candidate: Candidate) -> str:
        if has_injection(text_of(work.texts, candidate)):
            return "gives orders"
        document = candidate.document
        if document is None or is_verified(document.origin):
            return ""
        span = candidate.span
        body = work.texts.bodies([document.id]).get(document.id, "")
        is_ordered = has_injection(document.title) or (span and injection_within(body, span.start, span.end))
        return "gives orders from outside" if is_ordered else ""

    trace.drop(work.candidates[request.limit :], "beyond the limit")
    return _without(work.with_candidates(work.candidates[: request.limit]), trace, why)


def _without(work: Work, trace: Trace, why: Callable[[Candidate], str]) -> Work:
    """Return *work* without the candidates for which *why* returns a reason, which the trace gets."""
    reasons = {c.best: why(c) for c in work.candidates}
    for reason in dict.fromkeys(filter(None, reasons.values())):
        trace.drop([c for c in work.candidates if reasons[c.best] == reason], reason)
    return work.with_candidates(c for c in work.candidates if not reasons[c.best])


def text_of(texts: LoadedTexts, candidate: Candidate) -> str:
    """Return the text of the fragment that was found; empty if it no longer exists."""
    span = candidate.span or texts.spans([candidate.best]).get(candidate.best)
    body = texts.bodies([candidate.document_id]).get(candidate.document_id, "")
    return body[span.start : span.end] if span else ""


def turns_of(telemetry: Telemetry, session_id: str, prompt_id: str = "") -> Turns:
    """Return the turns of a session; without an id, turns that belong to no session."""
    if not session_id:
        return Turns(None)
    rows = (row for row in telemetry.recalls(session_id=session_id) if row.verb == CONTEXT_SURFACING)
    return Turns(session_id, tuple(rows), prompt_id)
