"""Filters and reordering stages between the ranked candidates and the context block."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.work import Candidate, Stage, Trace, Work
from clawmem.app.services.surfacing.choices import Choices
from clawmem.domain.documents.address import OWN_COLLECTION
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.retrieval.diversity import diversify
from clawmem.domain.security.injections import has_injection, injection_within
from clawmem.domain.security.origin import is_verified
from clawmem.domain.surfacing.focus import focus_factor, is_on_topic, topic_tokens
from clawmem.domain.surfacing.ordering import (
    TOP,
    MemoryKind,
    activation,
    memory_kind,
    states_wish,
    vary,
    wishes_first,
)
from clawmem.domain.surfacing.packing import Tier, tier_of
from clawmem.domain.surfacing.profiles import Profile, ThresholdMode, least_kept
from clawmem.domain.surfacing.visible import is_hidden, is_noise
from clawmem.ports.documents import DocumentStore
from clawmem.ports.records import Document, Span
from clawmem.ports.sessions import CaptureStore, UsageStore

# Number of top candidates that are processed: no budget holds more, and each one costs reading its text.
# Stated preferences are promoted from among them.
LOOKED_AT = 60
KIND_IS_READ = 2000  # leading characters of a body from which its memory kind is derived
USUAL = Choices()


def confident(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
    """
    Make the scores of the first `LOOKED_AT` candidates absolute and drop the rest.

    The new score is the answerability times the relative score in [0, 1]. The order does not change.
    """
    head, tail = work.candidates[:LOOKED_AT], work.candidates[LOOKED_AT:]
    trace.drop(tail, "beyond what is looked at")
    likely = 1.0 if work.answered is None else work.answered
    return work.with_candidates([c._replace(score=likely * min(1.0, max(0.0, c.score))) for c in head])


def visible(documents: DocumentStore, captures: CaptureStore, choices: Choices = USUAL) -> Stage:
    """Return a stage that drops candidates that are hidden, snoozed, already in the conversation or without content."""

    def why(candidate: Candidate, now: str) -> str:
        document = candidate.document
        if document is None or is_hidden(document.display_path, document.content_type):
            return "never surfaced from there"
        if document.id in choices.elsewhere:
            return "of another project"
        if document.is_snoozed(now):
            return "snoozed"
        if _is_said_here(captures, document, choices):
            return "said in this session"
        text = text_of(documents, candidate)
        if is_noise(text):
            return "says nothing"
        return "loaded by the client" if " ".join(text.split()) in choices.loaded else ""

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        now = iso_utc(request.question.now_ms)
        return _without(lambda candidate: why(candidate, now))(request, work, trace)

    return stage


def _is_said_here(captures: CaptureStore, document: Document, choices: Choices) -> bool:
    """Whether *document* was captured from this session after its last compaction."""
    if not choices.session_id or document.collection != OWN_COLLECTION:
        return False
    said = captures.sightings(document.id)
    return any(one.session_id == choices.session_id and one.seen_at > choices.compacted_at for one in said)


def guarded(documents: DocumentStore) -> Stage:
    """
    Return a stage that drops texts that give orders, and texts of others next to an order or below a title with one.

    This stage runs last, because reading the texts is slow.
    """

    def why(candidate: Candidate) -> str:
        if has_injection(text_of(documents, candidate)):
            return "gives orders"
        return "gives orders from outside" if _orders_from_outside(documents, candidate) else ""

    return _without(why)


def _orders_from_outside(documents: DocumentStore, candidate: Candidate) -> bool:
    document = candidate.document
    if document is None or is_verified(document.origin):
        return False
    span, body = span_of(documents, candidate), documents.body(document.id) or ""
    return has_injection(document.title) or (
        span is not None and injection_within(body, span.start, span.end)
    )


def _without(why: Callable[[Candidate], str]) -> Stage:
    """Return a stage that drops every candidate for which *why* returns a reason, and traces the reason."""

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        reasons = {c.best: why(c) for c in work.candidates}
        for reason in dict.fromkeys(filter(None, reasons.values())):
            trace.drop([c for c in work.candidates if reasons[c.best] == reason], reason)
        return work.with_candidates([c for c in work.candidates if not reasons[c.best]])

    return stage


def focused(documents: DocumentStore, topic: str) -> Stage:
    """Return a stage that boosts candidates about *topic* and lowers the others; no change if none is about it."""
    tokens = topic_tokens(topic)

    def matches(candidate: Candidate) -> bool:
        document, body = candidate.document, documents.body(candidate.document_id) or ""
        return document is not None and is_on_topic(tokens, document.title, document.display_path, body)

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        on_topic = {c.best for c in work.candidates if matches(c)} if tokens else set()
        if not on_topic:
            return work
        moved = [c._replace(score=c.score * focus_factor(c.best in on_topic)) for c in work.candidates]
        return work.with_candidates(_best_first(moved))

    return stage


def threshold(profile: Profile, mode: ThresholdMode) -> Stage:
    """Return a stage that keeps candidates above the confidence threshold; none if the best is too weak."""

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        best = max((c.score for c in work.candidates), default=0.0)
        least = least_kept(best, profile, mode, recency_intent=request.question.is_recency_asked)
        bound = f"best {best:.2f}, kept from {least:.2f}" if least is not None else f"best {best:.2f}, silent"
        trace.stages[-1].notes.append(bound)
        kept = [c for c in work.candidates if least is not None and c.score >= least]
        trace.drop([c for c in work.candidates if c not in kept], "unlikely")
        return work.with_candidates(kept)

    return stage


def activated(usage: UsageStore) -> Stage:
    """Return a stage that boosts documents used together with the best ones, by scores relative to the best."""

    def partners(document_id: int) -> list[tuple[int, int]]:
        return list(usage.partners(document_id).items())

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        best = max((c.score for c in work.candidates), default=0.0) or 1.0
        ranked: dict[int, float] = {}
        for candidate in work.candidates:
            ranked.setdefault(candidate.document_id, candidate.score / best)
        gained = activation(list(ranked.items()), partners)
        if not any(gained.values()):
            return work
        risen = [c._replace(score=min(best, c.score + best * gained[c.document_id])) for c in work.candidates]
        return work.with_candidates(_best_first(risen))

    return stage


def varied(documents: DocumentStore) -> Stage:
    """Return a stage that moves the best procedural document to fourth place if the first three have none."""

    def kind_of(document: Document) -> MemoryKind:
        body = documents.body(document.id) or ""
        return memory_kind(document.display_path, document.content_type, body[:KIND_IS_READ])

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        ranked = list({c.document_id: c.document for c in work.candidates if c.document}.values())
        if (order := vary(ranked, kind_of)) == ranked:
            return work
        return work.with_candidates(_brought_forward(work.candidates, order))

    return stage


def repeated_last(documents: DocumentStore) -> Stage:
    """Return a stage that moves lines nearly equal to a better one behind the others: those of a log fill a block."""

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        lines = diversify(work.candidates, lambda one: text_of(documents, one), enough=request.limit)
        return work.with_candidates(lines)

    return stage


def _brought_forward(candidates: Sequence[Candidate], order: Sequence[Document]) -> list[Candidate]:
    """
    Return *candidates* with the best line of the fourth document of *order* moved forward.

    It is placed before the first line that belongs to none of the first three documents.
    """
    before = {document.id for document in order[:TOP]}
    best = next(c for c in candidates if c.document_id == order[TOP].id)
    place = next(n for n, c in enumerate(candidates) if c.document_id not in before)
    others = [c for c in candidates if c is not best]
    return [*others[:place], best, *others[place:]]


def span_of(documents: DocumentStore, candidate: Candidate) -> Span | None:
    """Return the position of the fragment that was found; None if it no longer exists."""
    return candidate.span or documents.spans([candidate.best]).get(candidate.best)


def text_of(documents: DocumentStore, candidate: Candidate) -> str:
    """Return the text of the fragment that was found; empty if it no longer exists."""
    span = span_of(documents, candidate)
    body = documents.body(candidate.document_id) or ""
    return body[span.start : span.end] if span else ""


def _best_first(candidates: list[Candidate]) -> list[Candidate]:
    return sorted(candidates, key=lambda c: (-c.score, c.best))


WISH = "preference"  # content type of a note that states a preference


def wished(documents: DocumentStore) -> Stage:
    """
    Return a stage that moves a few stated preferences directly behind the best candidates.

    They apply to how the prompt is answered, so they may outrank better matches. Only preferences whose text would be
    shown are moved, and only those from texts of the user and of assistants.
    """

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        best = max((c.score for c in work.candidates), default=0.0) or 1.0

        def rises(candidate: Candidate) -> bool:
            return tier_of(candidate.score / best) is not Tier.COLD and is_wish(documents, candidate)

        return work.with_candidates(wishes_first(work.candidates, rises))

    return stage


def is_wish(documents: DocumentStore, candidate: Candidate) -> bool:
    """Whether the candidate is a preference that the user or an assistant stated."""
    document = candidate.document
    if document is None or not is_verified(document.origin):
        return False
    speaker = candidate.span.label if candidate.span else ""
    return document.content_type == WISH or states_wish(text_of(documents, candidate), speaker)
