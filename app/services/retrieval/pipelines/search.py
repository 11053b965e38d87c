"""``search`` by words, ``vsearch`` by vectors, and ``query`` by both and by time."""

from __future__ import annotations

from functools import partial

from clawmem.app.services.retrieval.models import NO_MODELS, Models
from clawmem.app.services.retrieval.pipeline import Pipeline
from clawmem.app.services.retrieval.retrievers import (
    VECTOR_ALONE_DEPTH,
    lexical_retriever,
    local_retrievers,
    temporal_retriever,
    vector_retriever,
)
from clawmem.app.services.retrieval.scheduling import RunRetrievers
from clawmem.app.services.retrieval.stages.by_date import named_time_first, newest_matching_first
from clawmem.app.services.retrieval.stages.compare import comparison_stage
from clawmem.app.services.retrieval.stages.cut import cut, diversify
from clawmem.app.services.retrieval.stages.exact_first import exact_first
from clawmem.app.services.retrieval.stages.expand import expansion_stage, variant_retrievers
from clawmem.app.services.retrieval.stages.fuse import fuse, nearest, precise_first
from clawmem.app.services.retrieval.stages.judge import by_meaning_alone, judge
from clawmem.app.services.retrieval.stages.openclaw import (
    every_word_retriever,
    merge_passages,
    nearest_passages_retriever,
)
from clawmem.app.services.retrieval.stages.rerank import reranking_stages
from clawmem.app.services.retrieval.stages.score import score
from clawmem.app.services.retrieval.stages.successors import successors_first
from clawmem.app.services.retrieval.stages.vector_weight import weigh_vectors
from clawmem.app.services.retrieval.stages.versions_in_order import versions_in_order
from clawmem.app.services.retrieval.stores import RetrievalStores
from clawmem.ports.models import Embedder, LateInteraction


def search(stores: RetrievalStores) -> Pipeline:
    """Return a pipeline that searches words at every granularity and adds up the scores; it uses no model."""
    return Pipeline(
        stores,
        {
            "search": RunRetrievers({"lexical": lexical_retriever(stores.lexical)}),
            "fuse": fuse(stores.documents),
            "precise first": precise_first(stores.documents),
            "exact first": exact_first(stores.documents),
            "judge": judge(stores.documents, stores.lexical, stores.embeddings),
            "score": score(stores.documents),
            "successors first": successors_first(stores.documents, stores.successions),
            "newest first": newest_matching_first(stores.documents, stores.lexical, stores.successions),
            "cut": cut,
        },
    )


def vsearch(stores: RetrievalStores, embedder: Embedder) -> Pipeline:
    """Return a pipeline for the nearest fragment per document. It computes no confidence, and refuses a floor."""
    return Pipeline(
        stores,
        {
            "search": by_meaning_alone(
                RunRetrievers(
                    {
                        "vector": vector_retriever(
                            stores.vectors, stores.embeddings, embedder, VECTOR_ALONE_DEPTH
                        )
                    }
                )
            ),
            "nearest": nearest(stores.documents),
            "score": score(stores.documents),
            "successors first": successors_first(stores.documents, stores.successions),
            "newest first": newest_matching_first(stores.documents, stores.lexical, stores.successions),
            "cut": cut,
        },
    )


def openclaw(stores: RetrievalStores, embedder: Embedder) -> Pipeline:
    """Return a pipeline that ranks passages as OpenClaw does: by cosine, and by the rank among those with every word."""
    legs = {
        "passage": every_word_retriever(stores.lexical),
        "vector": nearest_passages_retriever(stores.vectors, stores.embeddings, embedder),
    }
    return Pipeline(
        stores,
        {
            "search": RunRetrievers(
                legs, at_hand=partial(local_retrievers, stores.lexical, stores.vectors, embedder)
            ),
            "merge": merge_passages(stores.documents),
        },
    )


def query(
    stores: RetrievalStores,
    embedder: Embedder,
    late: LateInteraction | None = None,
    models: Models = NO_MODELS,
) -> Pipeline:
    """
    Return a pipeline that runs all retrievers, compares the best candidates word by word, and fuses the scores.

    Metadata decides near-ties, and near-duplicates come last. With a generator the question is also searched in
    reformulations, with a reranker the best candidates are reranked; without them these stages are left out.
    """
    legs = {
        "lexical": lexical_retriever(stores.lexical),
        "vector": vector_retriever(stores.vectors, stores.embeddings, embedder),
        "temporal": temporal_retriever(stores.documents),
    }
    if models.generator:
        legs |= variant_retrievers(stores.lexical, stores.vectors, stores.embeddings, embedder)
    return Pipeline(
        stores,
        {
            **expansion_stage(stores.lexical, stores.answers, models),
            "search": RunRetrievers(
                legs, at_hand=partial(local_retrievers, stores.lexical, stores.vectors, embedder)
            ),
            "fuse": fuse(stores.documents),
            **comparison_stage(stores.documents, stores.sketches, stores.embeddings, late, embedder),
            "weigh vectors": weigh_vectors(stores.lexical, stores.embeddings),
            "precise first": precise_first(stores.documents),
            "exact first": exact_first(stores.documents),
            **reranking_stages(stores.documents, stores.answers, models),
            "judge": judge(stores.documents, stores.lexical, stores.embeddings),
            "score": score(stores.documents),
            "successors first": successors_first(stores.documents, stores.successions),
            "versions": versions_in_order(stores.documents, stores.successions),
            "diversify": diversify(stores.documents),
            "newest first": newest_matching_first(stores.documents, stores.lexical, stores.successions),
            "named time first": named_time_first(stores.documents, stores.lexical),
            "cut": cut,
        },
        asks_models=models.are_asked,
    )
