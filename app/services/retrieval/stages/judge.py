"""How likely each candidate answers, and silence where nothing does."""

from __future__ import annotations

from itertools import islice

from clawmem.app.services.retrieval.legs.vector import VECTOR
from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.trace import Trace
from clawmem.app.services.retrieval.work import Stage, Work
from clawmem.domain.retrieval.grains import LINE
from clawmem.domain.retrieval.relevance import Evidence, answered, placed
from clawmem.ports.errors import ClawmemError, InvalidInput
from clawmem.ports.records import Grain
from clawmem.ports.vault import Vault

WORDS_LOOKED_UP = 16  # of a pasted page the first ones tell as much as all


def judge(vault: Vault) -> Stage:
    """
    Every candidate gets the probability that it answers; the ranking stays as it is.

    Whether anything here answers is told by the raw scores of the legs. Where that is less likely than the
    request's floor the answer is empty. Where an index is away nothing can be told, and nothing is left out.
    """

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        if not work.candidates:
            return work
        try:
            likely = likelihood(vault, request, work)
        except ClawmemError as error:  # an index that is away answers nothing about itself either
            trace.stages[-1].notes.append(f"how likely it is cannot be told: {error}")
            return work
        judged = [
            c._replace(confidence=likely * placed(c.relevance, rank, request.unit))
            for rank, c in enumerate(work.candidates, start=1)
        ]
        return above_the_floor(request, work._replace(candidates=tuple(judged), answered=likely), trace)

    return stage


def by_meaning_alone(search: Stage) -> Stage:
    """
    *search*, but `InvalidInput` for a request with a floor: what the question's words find is part of every
    judgement, and is not asked.
    """

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        if request.floor:
            raise InvalidInput(
                "INVALID_INPUT",
                "By meaning alone nobody can tell how likely an answer is. Ask with query, or without a floor.",
            )
        return search(request, work, trace)

    return stage


def above_the_floor(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
    """*work*, or silence where that anything answers is less likely than the request's floor."""
    if work.answered is None or work.answered >= request.floor:
        return work
    trace.stages[-1].notes.append(f"nothing here answers: {work.answered:.2f}, floor {request.floor:.2f}")
    trace.drop(work.candidates, "below the floor")
    return work.with_candidates(())


def likelihood(vault: Vault, request: RetrievalRequest, work: Work) -> float:
    """The probability, in (0, 1), that anything answers, by the hits of the legs for words and meaning."""
    fingerprint = vault.embeddings.fingerprint() if work.legs.get(VECTOR) else None
    return answered(evidence_of(vault, request, work), fingerprint)


def evidence_of(vault: Vault, request: RetrievalRequest, work: Work) -> Evidence:
    """What the legs found, as the relevance model wants to know it."""
    lines, vectors = work.legs.get(LINE), work.legs.get(VECTOR)
    return Evidence(
        line=lines[0].score if lines else 0.0,
        unknown=_unknown(vault, request),
        entries=vault.lexical.count(Grain.LINE) + vault.lexical.count(Grain.PASSAGE),
        cosine=vectors[0].score if vectors else None,
    )


def _unknown(vault: Vault, request: RetrievalRequest) -> float:
    """The share of the question's words that no document holds."""
    terms = list(islice(request.forms.relaxed.terms, WORDS_LOOKED_UP))
    held = sum(1 for term in terms if vault.lexical.holding(term, Grain.DOCUMENT))
    return 1 - held / len(terms) if terms else 1.0
