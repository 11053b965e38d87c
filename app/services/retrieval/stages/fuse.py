"""From the hits of the legs to one list of candidates."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from clawmem.app.services.retrieval.legs.lexical import PRECISE
from clawmem.app.services.retrieval.legs.vector import VECTOR
from clawmem.app.services.retrieval.request import MAX_LIMIT, RetrievalRequest, Unit
from clawmem.app.services.retrieval.stages.nearest import nearest
from clawmem.app.services.retrieval.trace import Trace
from clawmem.app.services.retrieval.work import Candidate, Stage, Work
from clawmem.domain.documents.tokens import words
from clawmem.domain.retrieval import grains
from clawmem.ports.records import FragmentKey
from clawmem.ports.vault import Vault

PRECISE_SHARE = 0.55  # puts every precise match further above every other than metadata can move a score


def fuse(vault: Vault) -> Stage:
    """From hits by leg to candidates, by the sum of scaled scores; every precise match above every other."""

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        by_document = request.unit is Unit.DOCUMENT
        if not by_document and not work.legs.get(grains.LINE):
            return nearest(vault)(
                request, work, trace
            )  # no line holds a word of it; meaning may know a passage
        speakers = grains.named_speakers(words(request.query))
        found = (_documents if by_document else _lines)(vault, work, speakers)
        return work.with_candidates(_precise_first(vault, found, request, work)[:MAX_LIMIT])

    return stage


def _documents(vault: Vault, work: Work, speakers: Collection[str]) -> list[Candidate]:
    spans = vault.documents.spans(hit.key for hit in work.legs.get(grains.LINE, ()))
    return [
        Candidate(document_id, fused.best, fused.relevance, fused.relevance, fused.parts)
        for document_id, fused in grains.fuse_documents(work.legs, spans, speakers=speakers)
    ]


def _lines(vault: Vault, work: Work, speakers: Collection[str]) -> list[Candidate]:
    lines = work.legs.get(grains.LINE, ())
    wider = (hit.key for name in (grains.PASSAGE, VECTOR) for hit in work.legs.get(name, ()))
    spans = vault.documents.spans({*grains.neighbours(lines), *wider})
    return [
        Candidate(f.best.document_id, f.best, f.relevance, f.relevance, f.parts, span=spans[f.best])
        for f in grains.fuse_lines(work.legs, spans, speakers=speakers)
    ]


def _precise_first(
    vault: Vault, candidates: Sequence[Candidate], request: RetrievalRequest, work: Work
) -> list[Candidate]:
    if request.forms.precise is None:
        return list(candidates)
    matches = {_identity(hit.key, request.unit): hit.key for hit in work.legs.get(PRECISE, ())}
    seen = {_identity(c.best, request.unit) for c in candidates}
    missed = [key for identity, key in matches.items() if identity not in seen]
    every = [*candidates, *_as_the_last(vault, candidates, request.unit, missed)]
    lifted = [_lift(c, _identity(c.best, request.unit) in matches) for c in every]
    return sorted(lifted, key=lambda c: (-c.relevance, c.best))


def _as_the_last(
    vault: Vault, candidates: Sequence[Candidate], unit: Unit, keys: Sequence[FragmentKey]
) -> list[Candidate]:
    """Words that are frequent each for itself can meet deeper than the legs look: as relevant as the last."""
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
    return replace(candidate, relevance=relevance, score=relevance, legs=legs)
