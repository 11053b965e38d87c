"""Probability that a question of several parts is answered."""

from __future__ import annotations

from collections.abc import Collection

from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.stages.judge import above_the_floor, likelihood, words_of
from clawmem.app.services.retrieval.trace import StageTrace, Trace
from clawmem.app.services.retrieval.work import Stage, Work
from clawmem.domain.retrieval.query_forms import query_forms
from clawmem.ports.errors import ClawmemError
from clawmem.ports.vault import Vault


def judge_parts(vault: Vault, search: Stage, parts: Collection[str]) -> Stage:
    """
    Return a stage that sets the probability of an answer to that of the most likely part, searched by *search*.

    Below the request's floor the answer is empty. Candidates get no confidence of their own, because the model is
    fitted to sums of scores, and their relevance comes from ranks.
    """

    def likely(text: str, request: RetrievalRequest) -> float:
        part = request._replace(query=text, forms=query_forms(text))
        apart = Trace([StageTrace("part", 0, 0, 0.0)])  # discarded: the clauses report degradation already
        return likelihood(vault, part, search(part, Work(), apart), words_of(vault, part))

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        if not work.candidates:
            return work
        try:
            best = max(likely(text, request) for text in parts)
        except ClawmemError as error:
            trace.stages[-1].notes.append(f"how likely it is cannot be told: {error}")
            return work
        return above_the_floor(request, work._replace(answered=best), trace)

    return stage
