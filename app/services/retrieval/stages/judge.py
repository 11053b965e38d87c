"""Confidence of each candidate, and an empty answer if it is below the floor."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from functools import partial
from itertools import islice
from types import MappingProxyType
from typing import NamedTuple

from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.retrievers import PRECISE, VECTOR
from clawmem.app.services.retrieval.shortfalls import shortfalls
from clawmem.app.services.retrieval.stages.fuse import fuse
from clawmem.app.services.retrieval.work import Candidate, Stage, StageTrace, Trace, Work
from clawmem.domain.retrieval.bm25 import rarity
from clawmem.domain.retrieval.grains import DOCUMENT, LINE
from clawmem.domain.retrieval.relevance import Evidence, ResultPlace, answer_probability, place_probability
from clawmem.domain.retrieval.requested import Shortfall, least_unmet
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import ClawmemError, InvalidInput
from clawmem.ports.indexes import EmbeddingStore, LexicalIndex
from clawmem.ports.records import Grain

MOST_PASSAGES = 3  # best candidates whose texts are compared with what the question asks for
WORDS_LOOKED_UP = 16  # first words of the question; more words of a pasted page add no information


Likelihood = Callable[[RetrievalRequest, Work, "QuestionStatistics"], float]


def judge(
    documents: DocumentStore,
    lexical: LexicalIndex,
    embeddings: EmbeddingStore,
    likely: Likelihood | None = None,
) -> Stage:
    """
    Return a stage that gives every candidate the probability that it answers; the ranking does not change.

    The probability that any candidate answers follows from the raw scores of the retrievers. If it is below the
    request's floor, the answer is empty. If an index is unavailable, no probability is computed, and nothing is
    dropped.

    Args:
        likely: Returns the probability that any candidate answers; by default, `likelihood`.
    """
    chosen = likely or partial(likelihood, lexical, embeddings)

    def judged(request: RetrievalRequest, work: Work) -> Work:
        words = statistics_of(documents, lexical, request, work)
        answered = chosen(request, work, words)
        first = {c.document_id: c.best for c in reversed(work.candidates[:MOST_PASSAGES])}
        return work._replace(
            candidates=tuple(with_confidences(request, work, words, answered)),
            answered=answered,
            lacks={(request.question.text, first[one]): lack for one, lack in words.lacks.items()},
        )

    return _judging(judged)


def judge_parts(
    documents: DocumentStore,
    lexical: LexicalIndex,
    embeddings: EmbeddingStore,
    search: Stage,
    parts: Collection[str],
) -> Stage:
    """
    Return a stage that sets the probability of an answer to that of the most likely part, searched by *search*.

    Below the request's floor the answer is empty. Candidates get no confidence of their own, because the model is
    fitted to sums of scores, and their relevance comes from ranks.
    """

    ranked = fuse(documents)

    def likely(text: str, request: RetrievalRequest) -> float:
        part = request.asking(text)
        apart = Trace([StageTrace("part", 0, 0, 0.0)])  # discarded: the clauses report degradation already
        found = ranked(part, search(part, Work(), apart), apart)
        return likelihood(lexical, embeddings, part, found, statistics_of(documents, lexical, part, found))

    def judged(request: RetrievalRequest, work: Work) -> Work:
        return work._replace(answered=max(likely(text, request) for text in parts))

    return _judging(judged)


def _judging(judged: Callable[[RetrievalRequest, Work], Work]) -> Stage:
    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        if not work.candidates:
            return work
        try:
            return above_the_floor(request, judged(request, work), trace)
        except ClawmemError as error:  # an unavailable index cannot provide statistics either
            trace.stages[-1].notes.append(f"how likely it is cannot be told: {error}")
            return work

    return stage


def by_meaning_alone(search: Stage) -> Stage:
    """
    Return *search* as a stage that raises `InvalidInput` for a request with a floor.

    The confidence depends on lexical hits, which vector search alone does not have.
    """

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        if request.floor:
            raise InvalidInput(
                "INVALID_INPUT",
                "Vector search alone cannot tell how likely an answer is. Ask with query, or without a floor.",
            )
        return search(request, work, trace)

    return stage


def above_the_floor(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
    """Return *work*, without candidates if the probability of an answer is below the request's floor."""
    if work.answered is None or work.answered >= request.floor:
        return work
    trace.stages[-1].notes.append(f"nothing here answers: {work.answered:.2f}, floor {request.floor:.2f}")
    trace.drop(work.candidates, "below the floor")
    return work.with_candidates(())


def likelihood(
    lexical: LexicalIndex,
    embeddings: EmbeddingStore,
    request: RetrievalRequest,
    work: Work,
    words: QuestionStatistics,
) -> float:
    """Return the probability, in (0, 1), that any candidate answers, from lexical and vector hits."""
    fingerprint = embeddings.fingerprint() if work.legs.get(VECTOR) else None
    return answer_probability(evidence_of(lexical, work, words), fingerprint)


def evidence_of(lexical: LexicalIndex, work: Work, words: QuestionStatistics) -> Evidence:
    """Return the input of the relevance model from the hits of the retrievers and the texts of the best candidates."""
    lines, vectors = (work.legs.get(leg) for leg in (LINE, VECTOR))
    return Evidence(
        line=lines[0].score if lines else 0.0,
        unknown=words.unknown,
        entries=lexical.count(Grain.LINE) + lexical.count(Grain.PASSAGE),
        cosine=vectors[0].score if vectors else None,
        coverage=best_coverage(work, words),
        words=words.looked_up,
        whole=bool(work.legs.get(PRECISE)),
        unmet=least_unmet(words.lacks.values()),
    )


class QuestionStatistics(NamedTuple):
    """
    Statistics of the question's words in the vault.

    ``unknown`` is the share of words that no document contains, ``rarity`` the sum of ``rarities``, the rarity of each
    word among documents. ``lacks`` says what the passages of the best documents lack, by document.
    """

    looked_up: int
    unknown: float
    rarity: float
    rarities: tuple[float, ...] = ()
    lacks: Mapping[int, Shortfall] = MappingProxyType({})


def statistics_of(
    documents: DocumentStore, lexical: LexicalIndex, request: RetrievalRequest, work: Work
) -> QuestionStatistics:
    """Return the statistics of the question's words, and what the best candidates of *work* lack."""
    found = words_of(lexical, request)
    best = work.candidates[:MOST_PASSAGES]
    lacks = shortfalls(documents, request, work, best, found.rarities)
    return found._replace(lacks={c.document_id: lacks[c.best] for c in reversed(best) if c.best in lacks})


def best_coverage(work: Work, words: QuestionStatistics) -> float:
    """Return the BM25 of the best document as a share of the rarities of the question's words; see `Evidence`."""
    documents = work.legs.get(DOCUMENT)
    return documents[0].score / words.rarity if documents else 0.0


def words_of(lexical: LexicalIndex, request: RetrievalRequest) -> QuestionStatistics:
    """Return the statistics of the first `WORDS_LOOKED_UP` words of the question."""
    terms = list(islice(request.question.forms.relaxed.terms, WORDS_LOOKED_UP))
    total = lexical.count(Grain.DOCUMENT)
    held = [lexical.holding(term, Grain.DOCUMENT) for term in terms]
    unknown = held.count(0) / len(terms) if terms else 1.0
    rarities = tuple(rarity(total, one) for one in held)
    return QuestionStatistics(len(terms), unknown, math.fsum(rarities) or 1.0, rarities)


def places_of(request: RetrievalRequest, work: Work, words: QuestionStatistics) -> list[ResultPlace]:
    """Return the candidates as inputs of the relevance model, best first."""
    hits = reversed(work.legs.get(DOCUMENT, ()))
    best = {hit.key.document_id: hit.score for hit in hits}
    is_name = request.question.forms.precise is not None
    least = least_unmet(words.lacks.values()).distinct
    return [
        ResultPlace(
            one.relevance, rank, request.unit, best.get(one.document_id, 0.0) / words.rarity, is_name,
            max(0.0, words.lacks[one.document_id].distinct - least) if one.document_id in words.lacks else 0.0,
        )
        for rank, one in enumerate(work.candidates, start=1)
    ]  # fmt: skip


def with_confidences(
    request: RetrievalRequest, work: Work, words: QuestionStatistics, likely: float
) -> list[Candidate]:
    """Return the candidates with their confidence; *likely* is the probability that any of them answers."""
    places = places_of(request, work, words)
    found = zip(work.candidates, places, strict=True)
    return [one._replace(confidence=likely * place_probability(place)) for one, place in found]
