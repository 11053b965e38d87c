"""Precise matches first: candidates that contain every word of a name."""

from __future__ import annotations

from collections.abc import Sequence

from clawmem.app.services.retrieval.legs.lexical import PRECISE
from clawmem.app.services.retrieval.request import MAX_LIMIT, RetrievalRequest, Unit
from clawmem.app.services.retrieval.trace import Trace
from clawmem.app.services.retrieval.work import Candidate, Stage, Work
from clawmem.ports.records import FragmentKey
from clawmem.ports.vault import Vault

PRECISE_SHARE = 0.55  # lifts precise matches above all others by more than metadata can change a score


def precise_first(vault: Vault) -> Stage:
    """Return a stage that, if the question is a name, puts precise matches above others, each group in its order."""

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        if request.forms.precise is None:
            return work
        ranked = _lifted(vault, work.candidates, request, work)
        trace.drop(ranked[MAX_LIMIT:], "beyond the maximum limit")
        return work.with_candidates(ranked[:MAX_LIMIT])

    return stage


def _lifted(
    vault: Vault, candidates: Sequence[Candidate], request: RetrievalRequest, work: Work
) -> list[Candidate]:
    matches = {_identity(hit.key, request.unit): hit.key for hit in work.legs.get(PRECISE, ())}
    seen = {_identity(c.best, request.unit) for c in candidates}
    missed = [key for identity, key in matches.items() if identity not in seen]
    every = [*candidates, *_as_the_last(vault, candidates, request.unit, missed)]
    lifted = [_lift(c, _identity(c.best, request.unit) in matches) for c in every]
    return sorted(lifted, key=lambda c: (-c.relevance, c.best))


def _as_the_last(
    vault: Vault, candidates: Sequence[Candidate], unit: Unit, keys: Sequence[FragmentKey]
) -> list[Candidate]:
    """Return candidates for matches beyond the depth of the retrievers, with the relevance of the last candidate."""
    least = candidates[-1].relevance if candidates else 0.0
    spans = vault.documents.spans(keys) if keys else {}
    return [
        Candidate(key.document_id, key, least, least, span=spans[key] if unit is Unit.LINE else None)
        for key in keys
        if key in spans
    ]


def _identity(key: FragmentKey, unit: Unit) -> FragmentKey | int:
    return key.document_id if unit is Unit.DOCUMENT else key


def _lift(candidate: Candidate, precise: bool) -> Candidate:
    relevance = PRECISE_SHARE * precise + (1 - PRECISE_SHARE) * candidate.relevance
    legs = {**candidate.legs, PRECISE: float(precise)}
    return candidate._replace(relevance=relevance, score=relevance, legs=legs)
