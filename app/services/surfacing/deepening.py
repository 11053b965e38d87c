"""Pipeline stages that use generative models and rerankers, between candidate generation and filters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from clawmem.app.services.retrieval.expand import expand
from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.rerank import RERANKER, chunk_of, rerank
from clawmem.app.services.retrieval.work import Candidate, Stage, Trace, Work
from clawmem.domain.retrieval import fusion
from clawmem.domain.retrieval.query_forms import query_forms
from clawmem.domain.surfacing import deepening as policy
from clawmem.ports.documents import DocumentStore
from clawmem.ports.indexes import LexicalIndex
from clawmem.ports.models import ModelAnswers
from clawmem.ports.records import FragmentKey, Grain, Hit

if TYPE_CHECKING:
    from clawmem.app.services.retrieval.models import Models
    from clawmem.app.services.surfacing.choices import Watch
    from clawmem.ports.clock import Clock
    from clawmem.ports.models import Generator, Reranker

OTHER_WORDS = "other words"


def deepening(
    documents: DocumentStore, lexical: LexicalIndex, answers: ModelAnswers, models: Models, watch: Watch
) -> dict[str, Stage]:
    """Return the stages that the available *models* allow; no stages without models."""
    stages: dict[str, Stage] = {}
    if models.clock and models.generator:
        # Leave half of the remaining time for the reranker.
        patience = (lambda: watch.left() / 2) if models.reranker else watch.left
        stages[OTHER_WORDS] = in_other_words(
            documents, lexical, answers, models.generator, models.clock, patience
        )
    if models.clock and models.reranker:
        stages["second reading"] = read_again(answers, models.reranker, models.clock, watch)
    return stages


def in_other_words(
    documents: DocumentStore,
    lexical: LexicalIndex,
    answers: ModelAnswers,
    generator: Generator,
    clock: Clock,
    patience: Callable[[], float],
) -> Stage:
    """
    Return a stage that adds the candidates of reformulated queries, weighted lower than those of the prompt itself.

    Args:
        patience: Returns the seconds left to wait for the *generator*.
    """

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        ask = expand(lexical, generator, answers, clock, deadline_s=patience())
        variants = ask(request, work, trace).variants
        texts = policy.asked_for(variants) if patience() > 0 else ()
        queries = (query_forms(text).relaxed for text in texts)
        found = [lexical.search(q, Grain.LINE, policy.RESULTS_EACH, request.scope) for q in queries]
        return _joined(documents, work, found)

    return stage


def _joined(documents: DocumentStore, work: Work, found: Iterable[Sequence[Hit]]) -> Work:
    best = max((c.relevance for c in work.candidates), default=0.0)
    worth: dict[FragmentKey, float] = {}
    for hits in found:
        for hit in hits:
            share = policy.VARIANT_SHARE * hit.score / hits[0].score
            worth[hit.key] = max(worth.get(hit.key, 0.0), share * best)
    known = {c.best for c in work.candidates}
    spans = documents.spans(worth.keys() - known)
    added = [
        Candidate(key.document_id, key, worth[key], worth[key], {OTHER_WORDS: worth[key]}, span=span)
        for key, span in spans.items()
    ]
    return work.with_candidates(_best_first([*work.candidates, *added]))


def read_again(answers: ModelAnswers, reranker: Reranker, clock: Clock, watch: Watch) -> Stage:
    """
    Return a stage that reorders the first results by a blend of index relevance and *reranker* score.

    The reranker is given the prompt alone, without earlier prompts.
    """

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        if not watch.may_read(len(work.candidates)):
            return work
        head, tail = work.candidates[: policy.READ], work.candidates[policy.READ :]
        chars, words = min(reranker.max_document_chars, policy.READ_CHARS), request.question.forms.words
        chosen = [c._replace(chunk=chunk_of(work.texts, c, words, chars=chars)) for c in head]
        read = rerank(reranker, answers, clock, deadline_s=watch.left())
        return _blended(read(request, work.with_candidates([*chosen, *tail]), trace))

    return stage


def _blended(work: Work) -> Work:
    found = {c.best: c.relevance for c in work.candidates}
    read = {c.best: c.legs[RERANKER] for c in work.candidates if RERANKER in c.legs}
    together = fusion.blend(found, read, policy.READER_SHARE)
    moved = [c._replace(relevance=together[c.best], score=together[c.best]) for c in work.candidates]
    return work.with_candidates(_best_first(moved))


def _best_first(candidates: Sequence[Candidate]) -> list[Candidate]:
    return sorted(candidates, key=lambda c: -c.relevance)  # stable
