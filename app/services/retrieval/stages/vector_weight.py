"""Weight of the vectors for a question in other words than the notes."""

from __future__ import annotations

from collections.abc import Iterator

from clawmem.app.services.retrieval.request import RetrievalRequest, Unit
from clawmem.app.services.retrieval.stages.judge import best_coverage, words_of
from clawmem.app.services.retrieval.work import Candidate, Stage, Trace, Work
from clawmem.domain.retrieval.grains import DOCUMENT, VECTOR
from clawmem.domain.retrieval.meaning import by_meaning, meaning_share
from clawmem.ports.errors import ClawmemError
from clawmem.ports.indexes import EmbeddingStore, LexicalIndex


def weigh_vectors(lexical: LexicalIndex, embeddings: EmbeddingStore) -> Stage:
    """
    Return a stage that ranks by vectors the more, the less of the question its best match by words covers.

    A question that names a time or asks for the newest is left as it is: the time tells which notes are meant. So is one
    without vectors, with an unavailable lexical index, or for lines: the vectors of a passage do not tell its lines apart.
    """

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        question = request.question
        if request.unit is Unit.LINE or not work.legs.get(VECTOR) or DOCUMENT not in work.legs:
            return work
        if question.named_time or question.newest:
            return work
        try:
            coverage = best_coverage(work, words_of(lexical, request))
        except ClawmemError:  # an unavailable index has no statistics either; its retriever has reported it
            return work
        share = meaning_share(coverage, embeddings.fingerprint() or "")
        if not share:
            return work
        trace.stages[-1].notes.append(f"the notes hardly have its words: vectors count {share:.0%}")
        return work.with_candidates(sorted(_weighed(work, share), key=lambda c: (-c.relevance, c.best)))

    return stage


def _weighed(work: Work, share: float) -> Iterator[Candidate]:
    for one in work.candidates:
        relevance = by_meaning(one.relevance, one.legs.get(VECTOR, 0.0), share)
        yield one._replace(relevance=relevance, score=relevance)
