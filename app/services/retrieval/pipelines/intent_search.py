"""``intent_search``: lexical and vector search, weighted by the intent of the question, and along the graph."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType

from clawmem.app.services.retrieval.answer import Answer
from clawmem.app.services.retrieval.models import NO_MODELS, AnswerCache, Models, reranking_stages
from clawmem.app.services.retrieval.pipeline import Pipeline
from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.retrievers import (
    in_named_time,
    lexical_retriever,
    local_retrievers,
    vector_retriever,
)
from clawmem.app.services.retrieval.scheduling import RunRetrievers
from clawmem.app.services.retrieval.stages.by_date import newest_matching_first
from clawmem.app.services.retrieval.stages.cut import cut
from clawmem.app.services.retrieval.stages.graph import CachedQueryEmbedder, graph
from clawmem.app.services.retrieval.stages.intent import PURPOSE, classify, fuse_by_intent
from clawmem.app.services.retrieval.stages.judge import judge
from clawmem.app.services.retrieval.stages.score import score
from clawmem.app.services.retrieval.stages.successors import successors_first
from clawmem.app.services.retrieval.work import Stage
from clawmem.domain.retrieval.intent import Intent
from clawmem.ports.embedder import Embedder
from clawmem.ports.stores import KnowledgeWithModels

NO_STAGES: Mapping[str, Stage] = MappingProxyType({})


class IntentAnswer(Answer):
    """An answer with the intent that was recognized, and the confidence of that, in [0, 1]."""

    def __init__(self, found: Answer, intent: Intent, confidence: float) -> None:
        super().__init__(found.query, found.results, found.trace, answered=found.answered)
        self.intent = intent
        self.confidence = confidence


class IntentSearch(Pipeline):
    """A pipeline whose answer includes the intent."""

    def __call__(self, request: RetrievalRequest) -> IntentAnswer:
        """Return the answer to a question, with locations, snippets and the recognized intent."""
        found, work = self.answer(request)
        if work.intent is None:
            raise ValueError("an intent search has a stage that classifies the question")
        read = work.intent
        return IntentAnswer(found, read.intent, read.confidence)


def intent_search(
    vault: KnowledgeWithModels,
    embedder: Embedder,
    *,
    intent: Intent | None = None,
    with_graph: bool = True,
    models: Models = NO_MODELS,
) -> IntentSearch:
    """
    Return a pipeline in which the intent decides the weights of retrievers and the relations to follow.

    Args:
        intent: The intent, if it is known.
        models: The generator classifies questions whose words leave the intent open; the reranker reorders the best
            candidates before scoring.
    """
    asked_once = CachedQueryEmbedder(embedder)
    legs = {"lexical": lexical_retriever(vault.lexical), "vector": vector_retriever(vault, asked_once)}
    cache = AnswerCache(vault.answers, models.clock, PURPOSE) if models.clock else None
    at_hand = partial(local_retrievers, vault, embedder)
    return IntentSearch(
        vault,
        {
            "classify": classify(intent, models.generator, cache),
            "search": RunRetrievers(
                {name: in_named_time(leg) for name, leg in legs.items()}, at_hand=at_hand
            ),
            "fuse": fuse_by_intent(vault.documents),
            **({"graph": graph(vault, asked_once)} if with_graph else NO_STAGES),
            **reranking_stages(vault, models),
            "judge": judge(vault),
            "score": score(vault.documents),
            "successors first": successors_first(vault),
            "newest first": newest_matching_first(vault),
            "cut": cut,
        },
        asks_models=models.are_asked,
    )
