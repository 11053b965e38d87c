"""Order of superseded notes and their successors."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from clawmem.app.services.documents.succession import known_by, successions_from, successions_to
from clawmem.app.services.retrieval.partial_succession import partly_superseded
from clawmem.app.services.retrieval.request import Ranking, RetrievalRequest, Unit
from clawmem.app.services.retrieval.work import Candidate, Stage, Trace, Work
from clawmem.domain.retrieval.intent import TimeIntent
from clawmem.domain.retrieval.succession import current_first, successors
from clawmem.ports.documents import DocumentStore, Succession, SuccessionStore
from clawmem.ports.records import Document, FragmentKey, Scope

SUCCESSION = "succession"  # name of the term in the score
MOST_NAMED = 5
MOST_PRECEDED = 5  # first candidates whose predecessors are looked up

Arrange = Callable[[Sequence[Candidate], set[Succession]], list[Candidate]]


def successors_first(
    documents: DocumentStore, successions: SuccessionStore, *, of_lines: bool = False
) -> Stage:
    """
    Return a stage that puts superseded notes below their successors, and adds successors that were not found.

    It does nothing if the question asks for the past, nor for a note whose answering passage no successor replaces.

    Args:
        of_lines: Whether lines are arranged as well. A successor then goes directly before the superseded line, which
            keeps its score, as only that line may contain the words of the question.
    """

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        if (request.unit is Unit.LINE and not of_lines) or request.ranking is Ranking.PUBLISHED:
            return work
        found = [c.document_id for c in work.candidates]
        pairs = known_by(documents, successions_from(successions, found), request.as_of)
        if not pairs:
            return work
        notes = trace.stages[-1].notes
        if request.question.time_intent is TimeIntent.HISTORY:
            notes.append("the question asks for what was before")
            return work
        partly = partly_superseded(documents, request, pairs, found)
        pairs = {pair for pair in pairs if pair.older not in partly}
        work = work.with_candidates(
            [c._replace(is_partly_superseded=c.document_id in partly) for c in work.candidates]
        )
        arrange = _lifted if of_lines else _exchanged
        arranged = _with_their_lines(
            _arranged(documents, request, work.candidates, pairs, arrange), work.candidates
        )
        notes += _said(arranged, pairs)
        return work.with_candidates(arranged)

    return stage


def _arranged(
    store: DocumentStore,
    request: RetrievalRequest,
    candidates: Sequence[Candidate],
    pairs: set[Succession],
    arrange: Arrange,
) -> list[Candidate]:
    """Return the best candidate of each document and added successors, current notes first."""
    found = {c.document_id: c for c in reversed(candidates)}
    candidates = [c for c in candidates if found[c.document_id] is c]
    documents = store.many({pair.newer for pair in pairs} - found.keys())
    hidden = {number for number, document in documents.items() if not _is_seen(document, request.scope)}
    order = current_first([c.document_id for c in candidates], pairs, hidden)
    brought = _brought(
        candidates, {number: documents[number] for number in order if number not in found}, pairs
    )
    every = {**found, **brought}
    return arrange([every[number] for number in order], pairs)


def _exchanged(ordered: Sequence[Candidate], pairs: set[Succession]) -> list[Candidate]:
    """Reassign the scores in descending order to the new order."""
    places = sorted(ordered, key=lambda candidate: -candidate.score)
    return [_at(candidate, place) for candidate, place in zip(ordered, places, strict=True)]


def _lifted(ordered: Sequence[Candidate], pairs: set[Succession]) -> list[Candidate]:
    """Give each successor at least the score of the notes it supersedes, and order it before them."""
    older: dict[int, set[int]] = {}
    for number, those in successors(pairs).items():
        for newer in those:
            older.setdefault(newer, set()).add(number)
    lifted: dict[int, Candidate] = {}
    for candidate in reversed(ordered):  # superseded notes before their successors
        before = [lifted[number] for number in older.get(candidate.document_id, ()) if number in lifted]
        nearest = max([candidate, *before], key=lambda one: one.score)
        lifted[candidate.document_id] = _at(candidate, nearest)
    return sorted((lifted[one.document_id] for one in ordered), key=lambda candidate: -candidate.score)


def _with_their_lines(arranged: Sequence[Candidate], candidates: Sequence[Candidate]) -> list[Candidate]:
    """Add further lines of each document, limited to the score of its best line, and sort by score."""
    best = {c.document_id: c for c in arranged}
    others = [c for c in candidates if c.best != best[c.document_id].best]
    lowered = [_at(c, best[c.document_id]) if c.score > best[c.document_id].score else c for c in others]
    return sorted([*arranged, *lowered], key=lambda c: -c.score) if lowered else [*arranged]


def _is_seen(document: Document, scope: Scope) -> bool:
    return (
        (not scope.collections or document.collection in scope.collections)
        and (scope.authored_from is None or document.authored_at >= scope.authored_from)
        and (scope.authored_until is None or document.authored_at < scope.authored_until)
        and (scope.documents is None or document.id in scope.documents)
    )


def _brought(
    candidates: Sequence[Candidate], documents: Mapping[int, Document], pairs: set[Succession]
) -> dict[int, Candidate]:
    """Return candidates for successors that were not found, with the score of the best note they supersede."""
    newer = successors(pairs)
    brought: dict[int, Candidate] = {}
    for candidate in candidates:
        for number in newer.get(candidate.document_id, set()) & documents.keys() - brought.keys():
            brought[number] = _in_place_of(candidate, documents[number])
    return brought


def with_predecessors(
    documents: DocumentStore,
    successions: SuccessionStore,
    request: RetrievalRequest,
    candidates: Sequence[Candidate],
) -> Iterator[Candidate]:
    """Yield *candidates*, and after each of the first those that it has superseded and that were not found."""
    first = {c.document_id: c.document for c in candidates[:MOST_PRECEDED] if c.document}
    pairs = known_by(documents, successions_to(documents, successions, first.values()), request.as_of)
    newer = successors(pairs)
    missing = documents.many(newer.keys() - {c.document_id for c in candidates})
    waiting = {number: one for number, one in missing.items() if _is_seen(one, request.scope)}
    for candidate in candidates:
        yield candidate
        for number in [number for number in waiting if candidate.document_id in newer[number]]:
            yield _in_place_of(candidate, waiting.pop(number))


def _in_place_of(older: Candidate, document: Document) -> Candidate:
    return older._replace(
        document_id=document.id,
        document=document,
        best=FragmentKey(document.id, 0),
        span=None,
        legs={},
        terms={SUCCESSION: older.score},
        chunk="",
    )


def _at(candidate: Candidate, place: Candidate) -> Candidate:
    """Return *candidate* with the score and confidence of *place*: a question means the current note."""
    if place.score == candidate.score:
        return candidate
    moved = candidate.terms.get(SUCCESSION, 0.0) + place.score - candidate.score
    terms = {**candidate.terms, SUCCESSION: moved}
    return candidate._replace(score=place.score, confidence=place.confidence, terms=terms)


def _said(arranged: Sequence[Candidate], pairs: set[Succession]) -> list[str]:
    """Return notes for the trace about the first `MOST_NAMED` superseded candidates."""
    names = {c.document_id: c.document.display_path for c in arranged if c.document}
    newer = successors(pairs)
    behind = [
        f"{names[c.document_id]} superseded by {names[pair.newer]}"
        for c in arranged
        for pair in sorted(pairs)
        if pair.older == c.document_id and pair.newer in names.keys() & newer.get(pair.older, set())
    ]
    more = len(behind) - MOST_NAMED
    return [*behind[:MOST_NAMED], *([f"and {more} more"] if more > 0 else [])]


def successors_above(documents: DocumentStore, successions: SuccessionStore) -> Stage:
    """
    Return a stage that moves candidates of superseded notes below the first candidate of each successor.

    Questions about the past are left unchanged.
    """

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        found = {c.document_id for c in work.candidates if not c.is_partly_superseded}
        pairs = known_by(documents, successions_from(successions, found), request.as_of)
        if not pairs or request.question.time_intent is TimeIntent.HISTORY:
            return work
        newer = {older: those & found for older, those in successors(pairs).items()}
        return work.with_candidates(_below_successors(work.candidates, newer))

    return stage


def _below_successors(
    candidates: Sequence[Candidate], newer: Mapping[int, Collection[int]]
) -> list[Candidate]:
    """Return *candidates* in their order, but each one only after all of its successors."""
    placed: list[Candidate] = []
    waiting = list(candidates)
    while waiting:
        open_documents = {c.document_id for c in waiting} - {c.document_id for c in placed}
        chosen = next(c for c in waiting if open_documents.isdisjoint(newer.get(c.document_id, ())))
        waiting.remove(chosen)
        placed.append(chosen)
    return placed
