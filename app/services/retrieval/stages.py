"""The stages after the legs: fuse, score, diversify, cut."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from clawmem.app.services.retrieval.legs import PRECISE, VECTOR
from clawmem.app.services.retrieval.request import (
    MAX_LIMIT,
    Candidate,
    Ranking,
    RetrievalRequest,
    Trace,
    Unit,
    Work,
)
from clawmem.app.services.retrieval.signals import signals_of
from clawmem.domain.documents.tokens import words
from clawmem.domain.retrieval import calibrated, composite, diversity, grains
from clawmem.domain.retrieval.intent import has_recency_intent
from clawmem.ports.records import FragmentKey, FragmentKind, Hit
from clawmem.ports.vault import Vault

Stage = Callable[[RetrievalRequest, Work, Trace], Work]

PRECISE_SHARE = 0.55  # puts every precise match further above every other than metadata can move a score
SPREAD = 20  # candidates from the top that are compared with each other, whatever the limit
READ_FOR_DIVERSITY = 800  # characters of each text that are compared


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


def nearest(vault: Vault) -> Stage:
    """From vector hits alone to candidates: relevance is the cosine of the best fragment."""

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        hits = list(work.legs.get(VECTOR, ()))
        if request.unit is Unit.LINE:
            spans = vault.documents.spans(hit.key for hit in hits)
            wide = (FragmentKind.DOCUMENT, FragmentKind.SECTION)
            hits = [hit for hit in hits if hit.key in spans and spans[hit.key].kind not in wide]
            return work.with_candidates([replace(_by_cosine(hit), span=spans[hit.key]) for hit in hits])
        best: dict[int, Hit] = {}
        for hit in hits:
            best.setdefault(hit.key.document_id, hit)
        return work.with_candidates([_by_cosine(hit) for hit in best.values()])

    return stage


def score(vault: Vault) -> Stage:
    """Relevance and what the vault knows of each document, by the policy that was asked for."""

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        documents = vault.documents.many({c.document_id for c in work.candidates})
        recent = has_recency_intent(request.query)
        if recent:
            trace.stages[-1].notes.append("the question asks for what is recent")
        scored = [
            _scored(replace(c, document=documents[c.document_id]), request, recent)
            for c in work.candidates
            if c.document_id in documents and documents[c.document_id].inactive is None
        ]
        kept = [c for c in scored if c.score >= request.min_score]
        return work.with_candidates(sorted(kept, key=lambda c: (-c.score, c.best)))

    return stage


def diversify(vault: Vault) -> Stage:
    """Near-copies of a better answer go behind the others; nothing is lost."""

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        if not request.diverse or request.unit is Unit.LINE:
            return work
        head, tail = work.candidates[:SPREAD], work.candidates[SPREAD:]
        spread = diversity.diversify(head, lambda c: _beginning(vault, c), enough=request.limit)
        return work.with_candidates([*spread, *tail])

    return stage


def cut(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
    """The first ``limit``."""
    return work.with_candidates(work.candidates[: request.limit])


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


def _by_cosine(hit: Hit) -> Candidate:
    relevance = max(0.0, hit.score)
    return Candidate(hit.key.document_id, hit.key, relevance, relevance, {VECTOR: hit.score})


def _scored(candidate: Candidate, request: RetrievalRequest, recent: bool) -> Candidate:
    signals = signals_of(candidate, request.now_ms)
    if request.ranking is Ranking.PUBLISHED:
        value = composite.published(signals, recency_intent=recent)
        return replace(candidate, score=value)
    terms = calibrated.parts(candidate.relevance, signals, recency_intent=recent)
    return replace(candidate, score=math.fsum(terms.values()), terms=terms)


def _beginning(vault: Vault, candidate: Candidate) -> str:
    title = candidate.document.title if candidate.document else ""
    body = vault.documents.body(candidate.document_id) or ""
    return f"{title}\n{body[:READ_FOR_DIVERSITY]}"
