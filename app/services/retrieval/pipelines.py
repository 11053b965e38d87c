"""The pipelines: the same steps with other retrievers, fusion and models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

from clawmem.app.services.retrieval.compare import compare, weigh_vectors
from clawmem.app.services.retrieval.confidence import confidence
from clawmem.app.services.retrieval.cut import cut
from clawmem.app.services.retrieval.dates import select_by_date
from clawmem.app.services.retrieval.expand import expansion_stage, variant_retrievers
from clawmem.app.services.retrieval.fuse import fuse, nearest
from clawmem.app.services.retrieval.graph import (
    PURPOSE,
    classify,
    follow_relations,
    fuse_by_intent,
)
from clawmem.app.services.retrieval.models import NO_MODELS, AnswerCache, Models
from clawmem.app.services.retrieval.pipeline import Pipeline
from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.rerank import reranking_stages
from clawmem.app.services.retrieval.retrievers import (
    VECTOR_ALONE_DEPTH,
    in_named_time,
    lexical_retriever,
    local_retrievers,
    temporal_retriever,
    vector_retriever,
)
from clawmem.app.services.retrieval.scheduling import Retriever, RunRetrievers
from clawmem.app.services.retrieval.score import score
from clawmem.app.services.retrieval.supersede import supersede
from clawmem.app.services.retrieval.work import RetrievalStores, Stage, Trace, Work
from clawmem.domain.retrieval.intent import Intent
from clawmem.ports.errors import InvalidInput
from clawmem.ports.models import Embedder, LateInteraction


def retrieval(
    stores: RetrievalStores, embedder: Embedder | None, legs: Iterable[str], **more: Retriever
) -> RunRetrievers:
    """Return the stage that runs the retrievers *legs*, of ``lexical``, ``vector`` and ``temporal``, and *more*."""
    known: dict[str, Retriever] = {
        "lexical": lexical_retriever(stores.lexical),
        "temporal": temporal_retriever(stores.documents),
    }
    if embedder is not None:
        known["vector"] = vector_retriever(stores.vectors, stores.embeddings, embedder)
    return RunRetrievers(
        {name: known[name] for name in legs} | more,
        at_hand=partial(local_retrievers, stores.lexical, stores.vectors, embedder),
    )


def ending(
    stores: RetrievalStores, late: LateInteraction | None = None, *, with_confidence: bool = True
) -> dict[str, Stage]:
    """Return the steps from one relevance to the list: dates, score, supersession, confidence and cut."""
    steps: dict[str, Stage] = {
        "dates": select_by_date(stores),
        "score": score,
        "supersede": supersede(stores),
        "confidence": confidence(stores.lexical, stores.embeddings, late),
        "cut": cut,
    }
    return {name: step for name, step in steps.items() if with_confidence or name != "confidence"}


def search(stores: RetrievalStores) -> Pipeline:
    """Return a pipeline that searches words at every granularity and adds up the scores; it uses no model."""
    return Pipeline(stores, {"search": retrieval(stores, None, ["lexical"]), "fuse": fuse, **ending(stores)})


def vsearch(stores: RetrievalStores, embedder: Embedder) -> Pipeline:
    """Return a pipeline for the nearest fragment per document. It computes no confidence, and refuses a floor."""
    leg = vector_retriever(stores.vectors, stores.embeddings, embedder, VECTOR_ALONE_DEPTH)
    run = RunRetrievers({"vector": leg})

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        if request.floor:
            raise InvalidInput(
                "INVALID_INPUT",
                "Vector search alone cannot tell how likely an answer is. Ask with query, or without a floor.",
            )
        return run(request, work, trace)

    return Pipeline(stores, {"search": stage, "nearest": nearest, **ending(stores, with_confidence=False)})


def query(
    stores: RetrievalStores,
    embedder: Embedder,
    late: LateInteraction | None = None,
    models: Models = NO_MODELS,
) -> Pipeline:
    """
    Return a pipeline that runs all retrievers, compares the best candidates word by word, and fuses the scores.

    With a generator the question is also searched in reformulations, with a reranker the best candidates are reranked;
    without them these stages are left out.
    """
    variants = variant_retrievers(stores, embedder) if models.generator else {}
    comparison: Mapping[str, Stage] = {"compare": compare(stores, late, embedder)} if late else {}
    return Pipeline(
        stores,
        {
            **expansion_stage(stores, models),
            "search": retrieval(stores, embedder, ["lexical", "vector", "temporal"], **variants),
            "fuse": fuse,
            **comparison,
            "weigh vectors": weigh_vectors(stores.lexical, stores.embeddings),
            **reranking_stages(stores, models),
            **ending(stores, late),
        },
        asks_models=models.are_asked,
    )


def intent_search(
    stores: RetrievalStores,
    embedder: Embedder,
    *,
    intent: Intent | None = None,
    with_graph: bool = True,
    models: Models = NO_MODELS,
) -> Pipeline:
    """
    Return a pipeline in which the intent decides the weights of retrievers and the relations to follow.

    Args:
        intent: The intent, if it is known.
        models: The generator classifies questions whose words leave the intent open; the reranker reorders the best
            candidates before scoring.
    """
    legs = {
        "lexical": in_named_time(lexical_retriever(stores.lexical)),
        "vector": in_named_time(vector_retriever(stores.vectors, stores.embeddings, embedder)),
    }
    cache = AnswerCache(stores.answers, models.clock, PURPOSE) if models.clock else None
    relations: Mapping[str, Stage] = {"graph": follow_relations(stores, embedder)} if with_graph else {}
    return Pipeline(
        stores,
        {
            "classify": classify(intent, models.generator, cache),
            "search": retrieval(stores, embedder, (), **legs),
            "fuse": fuse_by_intent,
            **relations,
            **reranking_stages(stores, models),
            **ending(stores),
        },
        asks_models=models.are_asked,
    )
