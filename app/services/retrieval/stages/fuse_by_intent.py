"""Fusion of the hits of all retrievers into documents, with lexical and vector weights that depend on the intent."""

from __future__ import annotations

from clawmem.app.services.retrieval.legs.vector import VECTOR
from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.stages.classify import intent_of
from clawmem.app.services.retrieval.trace import Trace
from clawmem.app.services.retrieval.work import Candidate, Stage, Work
from clawmem.domain.documents.tokens import words
from clawmem.domain.retrieval import grains
from clawmem.domain.retrieval.intent import weights_for_intent
from clawmem.ports.vault import Vault


def fuse_by_intent(vault: Vault) -> Stage:
    """Return a stage that sums scaled scores as in ``query``, with the weights from `weights_for_intent`."""

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        labels = vault.documents.labels(hit.key for hit in work.legs.get(grains.LINE, ()))
        weights = weights_for_intent(grains.DOCUMENT_WEIGHTS, intent_of(work), VECTOR)
        speakers = grains.named_speakers(words(request.query))
        found = grains.fuse_documents(work.legs, labels, weights, speakers)
        return work.with_candidates(
            [Candidate(number, one.best, one.relevance, one.relevance, one.parts) for number, one in found]
        )

    return stage
