"""What holds now goes before what it has superseded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from clawmem.app.services.retrieval.request import Ranking, RetrievalRequest, Unit
from clawmem.app.services.retrieval.trace import Trace
from clawmem.app.services.retrieval.work import Candidate, Stage, Work
from clawmem.domain.retrieval.intent import TimeIntent, time_intent
from clawmem.domain.retrieval.succession import current_first, successors
from clawmem.ports.records import Document, FragmentKey, Scope
from clawmem.ports.succession import Succession
from clawmem.ports.vault import Vault

SUCCESSION = "succession"  # the term of the score
MOST_NAMED = 5


def successors_first(vault: Vault) -> Stage:
    """
    A superseded note stands below its successors, and brings what holds instead of it if that was not found.

    Not where the question asks for what was before, nor by line: a line is asked for by its words.
    """

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        if request.unit is Unit.LINE or request.ranking is Ranking.PUBLISHED:
            return work
        pairs = _pairs(vault, [c.document_id for c in work.candidates])
        if not pairs:
            return work
        notes = trace.stages[-1].notes
        if time_intent(request.query) is TimeIntent.HISTORY:
            notes.append("the question asks for what was before")
            return work
        arranged = _arranged(vault, request, work.candidates, pairs)
        notes += _said(arranged, pairs)
        return work.with_candidates(arranged)

    return stage


def _pairs(vault: Vault, document_ids: Iterable[int]) -> set[Succession]:
    """Every succession that leads on from these documents, step by step."""
    pairs: set[Succession] = set()
    asked, known = set(document_ids), set[int]()
    while asked:
        known |= asked
        found = vault.successions.direct(asked)
        pairs |= found
        asked = {pair.newer for pair in found} - known
    return pairs


def _arranged(
    vault: Vault, request: RetrievalRequest, candidates: Sequence[Candidate], pairs: set[Succession]
) -> list[Candidate]:
    """The candidates and what they bring, at their places; what stands at a place has the score that stood there."""
    found = {c.document_id: c for c in candidates}
    documents = vault.documents.many({pair.newer for pair in pairs} - found.keys())
    hidden = {number for number, document in documents.items() if not _is_seen(document, request.scope)}
    order = current_first([*found], pairs, hidden)
    brought = _brought(
        candidates, {number: documents[number] for number in order if number not in found}, pairs
    )
    every = {**found, **brought}
    places = sorted((every[number] for number in order), key=lambda candidate: -candidate.score)
    return [_at(every[number], place) for number, place in zip(order, places, strict=True)]


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
    """What was not found itself, as likely as the best of what it has superseded."""
    newer = successors(pairs)
    brought: dict[int, Candidate] = {}
    for candidate in candidates:
        for number in newer.get(candidate.document_id, set()) & documents.keys() - brought.keys():
            brought[number] = _in_place_of(candidate, documents[number])
    return brought


def _in_place_of(older: Candidate, document: Document) -> Candidate:
    return replace(
        older,
        document_id=document.id,
        document=document,
        best=FragmentKey(document.id, 0),
        legs={},
        terms={SUCCESSION: older.score},
        chunk="",
    )


def _at(candidate: Candidate, place: Candidate) -> Candidate:
    """*candidate* with the score and the confidence of what stood there: a question means what holds now."""
    if place.score == candidate.score:
        return candidate
    moved = candidate.terms.get(SUCCESSION, 0.0) + place.score - candidate.score
    terms = {**candidate.terms, SUCCESSION: moved}
    return replace(candidate, score=place.score, confidence=place.confidence, terms=terms)


def _said(arranged: Sequence[Candidate], pairs: set[Succession]) -> list[str]:
    """The first few that stand behind a successor, by their names."""
    names = {c.document_id: c.document.display_path for c in arranged if c.document}
    behind = [
        f"{names[c.document_id]} superseded by {names[pair.newer]}"
        for c in arranged
        for pair in sorted(pairs)
        if pair.older == c.document_id and pair.older in names and pair.newer in names
    ]
    more = len(behind) - MOST_NAMED
    return [*behind[:MOST_NAMED], *([f"and {more} more"] if more > 0 else [])]
