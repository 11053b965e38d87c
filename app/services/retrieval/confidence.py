"""Confidence of each candidate, and an empty answer if the confidence of the whole answer is below the floor."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate, islice
from types import MappingProxyType
from typing import NamedTuple

from clawmem.app.services.retrieval.request import RetrievalRequest, Unit
from clawmem.app.services.retrieval.work import Candidate, Stage, Trace, Work
from clawmem.domain.documents.names import searchable_names
from clawmem.domain.retrieval.bm25 import rarity
from clawmem.domain.retrieval.grains import DOCUMENT, LINE, PRECISE, VECTOR
from clawmem.domain.retrieval.relevance import Evidence, ResultPlace, answer_probability, place_probability
from clawmem.domain.retrieval.requested import Shortfall, least_unmet, unmet
from clawmem.domain.text.dates import is_within
from clawmem.ports.errors import ClawmemError
from clawmem.ports.indexes import EmbeddingStore, LexicalIndex
from clawmem.ports.records import FragmentKey, Grain

MOST_PASSAGES = 3  # best candidates whose texts are compared with what the question asks for
WORDS_LOOKED_UP = 16  # first words of the question; more words of a pasted page add no information
PASSAGE, NEAR = 800, 300  # characters before and after a line, for words and for fillers of a slot


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


Likelihood = Callable[[RetrievalRequest, Work, QuestionStatistics], float]


def confidence(lexical: LexicalIndex, embeddings: EmbeddingStore, likely: Likelihood | None = None) -> Stage:
    """
    Return a stage that gives every candidate the probability that it answers; the order does not change.

    The probability that any candidate answers follows from the raw scores of the retrievers. If it is below the
    request's floor, the answer is empty. If an index is unavailable, no probability is computed, and nothing is
    dropped.

    Args:
        likely: Returns the probability that any candidate answers; by default, `likelihood`.
    """

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        if not work.candidates:
            return work
        try:
            words = statistics_of(lexical, request, work)
            answered = (
                likely(request, work, words) if likely else likelihood(lexical, embeddings, work, words)
            )
        except ClawmemError as error:  # an unavailable index cannot provide statistics either
            trace.note(f"how likely it is cannot be told: {error}")
            return work
        return above_floor(request, with_confidences(request, work, words, answered), trace)

    return stage


def above_floor(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
    """Return *work*, without candidates if the probability of an answer is below the request's floor."""
    if work.answered is None or work.answered >= request.floor:
        return work
    trace.note(f"nothing here answers: {work.answered:.2f}, floor {request.floor:.2f}")
    trace.drop(work.candidates, "below the floor")
    return work.with_candidates(())


def with_confidences(
    request: RetrievalRequest, work: Work, words: QuestionStatistics, answered: float
) -> Work:
    """
    Return *work* with the confidence of each candidate; *answered* is the probability that any of them answers.

    A document that the question selects by its date has at least the confidence of that. No document is less likely
    than one that follows it: the order is by what is known, also of versions and dates.
    """
    by_date = work.by_date
    confidences = []
    for candidate, place in zip(work.candidates, places_of(request, work, words), strict=True):
        probability = answered * place_probability(place)
        if candidate.document_id in by_date.confidence:
            probability = max(probability, by_date.confidence[candidate.document_id])
        else:
            probability = min(probability, by_date.others)
        confidences.append(probability)
    if request.unit is Unit.DOCUMENT:
        confidences = [*accumulate(reversed(confidences), max)][::-1]
    candidates = [c._replace(confidence=one) for c, one in zip(work.candidates, confidences, strict=True)]
    dated = [by_date.confidence[c.document_id] for c in candidates if c.document_id in by_date.confidence]
    return work.with_candidates(candidates)._replace(answered=max([answered, *dated]))


def likelihood(
    lexical: LexicalIndex, embeddings: EmbeddingStore, work: Work, words: QuestionStatistics
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


def statistics_of(lexical: LexicalIndex, request: RetrievalRequest, work: Work) -> QuestionStatistics:
    """Return the statistics of the question's words, and what the best candidates of *work* lack."""
    words, best = words_of(lexical, request), work.candidates[:MOST_PASSAGES]
    lacks = shortfalls(request, work, best, words.rarities)
    return words._replace(lacks={c.document_id: lacks[c.best] for c in reversed(best) if c.best in lacks})


def best_coverage(work: Work, words: QuestionStatistics) -> float:
    """Return the BM25 of the best document as a share of the rarities of the question's words; see `Evidence`."""
    documents = work.legs.get(DOCUMENT)
    return documents[0].score / words.rarity if documents else 0.0


def words_of(lexical: LexicalIndex, request: RetrievalRequest) -> QuestionStatistics:
    """Return the statistics of the first `WORDS_LOOKED_UP` words of the question."""
    terms = list(islice(request.question.forms.relaxed.terms, WORDS_LOOKED_UP))
    total = lexical.count(Grain.DOCUMENT)
    holding = [lexical.holding(term, Grain.DOCUMENT) for term in terms]
    rarities = tuple(rarity(total, count) for count in holding)
    unknown = holding.count(0) / len(terms) if terms else 1.0
    return QuestionStatistics(len(terms), unknown, math.fsum(rarities) or 1.0, rarities)


def places_of(request: RetrievalRequest, work: Work, words: QuestionStatistics) -> list[ResultPlace]:
    """Return the candidates as inputs of the relevance model, best first."""
    best = {hit.key.document_id: hit.score for hit in reversed(work.legs.get(DOCUMENT, ()))}
    least = least_unmet(words.lacks.values()).distinct
    return [
        ResultPlace(
            c.relevance,
            rank,
            request.unit,
            coverage=best.get(c.document_id, 0.0) / words.rarity,
            is_name=request.question.forms.precise is not None,
            lacks=max(0.0, words.lacks[c.document_id].distinct - least)
            if c.document_id in words.lacks
            else 0.0,
        )
        for rank, c in enumerate(work.candidates, start=1)
    ]


def shortfalls(
    request: RetrievalRequest, work: Work, candidates: Iterable[Candidate], rarities: Sequence[float]
) -> dict[FragmentKey, Shortfall]:
    """Return what the passage around each candidate's line lacks; *rarities* are those of the searched words."""
    best = {c.best: c.document_id for c in candidates}
    asked, named = request.question.demands.of_first(len(rarities)), request.question.named_time
    documents, bodies = work.texts.documents(best.values()), work.texts.bodies(best.values())
    spans = work.texts.spans(best)
    lacks = {}
    for key, number in best.items():
        if (document := documents.get(number)) is None:
            continue
        body, span = bodies.get(number, ""), spans.get(key)
        start, end = (span.start, span.end) if span else (0, 0)
        names = " ".join((*searchable_names(document), *document.tags, *document.front_matter.split()))
        text, near = (f"{body[max(0, start - reach) : end + reach]}\n{names}" for reach in (PASSAGE, NEAR))
        is_in_time = named is not None and is_within(document.authored_at, named)
        dated = f"{text} {document.authored_at[:10]}"
        lacks[key] = unmet(asked, rarities, dated, near, is_in_time=is_in_time)
    return lacks
