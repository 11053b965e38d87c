"""``search`` by words, ``vsearch`` by vectors, and ``query`` by both and by time."""

from __future__ import annotations

from functools import partial

from clawmem.app.services.retrieval.models import (
    NO_MODELS,
    Models,
    comparison_stage,
    expansion_stage,
    reformulation_retrievers,
    reranking_stages,
)
from clawmem.app.services.retrieval.pipeline import Pipeline
from clawmem.app.services.retrieval.retrievers import (
    VECTOR_ALONE_DEPTH,
    lexical_retriever,
    local_retrievers,
    temporal_retriever,
    vector_retriever,
)
from clawmem.app.services.retrieval.scheduling import RunRetrievers
from clawmem.app.services.retrieval.stages.answered import decisions_before_questions
from clawmem.app.services.retrieval.stages.by_date import named_time_first, newest_matching_first
from clawmem.app.services.retrieval.stages.cut import cut, diversify
from clawmem.app.services.retrieval.stages.exact_first import exact_first
from clawmem.app.services.retrieval.stages.fuse import fuse, nearest, precise_first
from clawmem.app.services.retrieval.stages.judge import by_meaning_alone, judge
from clawmem.app.services.retrieval.stages.score import score
from clawmem.app.services.retrieval.stages.successors import successors_first
from clawmem.app.services.retrieval.stages.vector_weight import weigh_vectors
from clawmem.app.services.retrieval.stages.versions_in_order import versions_in_order
from clawmem.ports.models import Embedder, LateInteraction
from clawmem.ports.vault import Vault


def search(vault: Vault) -> Pipeline:
    """Return a pipeline that searches words at every granularity and adds up the scores; it uses no model."""
    return Pipeline(
        vault,
        {
            "search": RunRetrievers({"lexical": lexical_retriever(vault.lexical)}),
            "fuse": fuse(vault.documents),
            "precise first": precise_first(vault.documents),
            "exact first": exact_first(vault.documents),
            "judge": judge(vault),
            "score": score(vault.documents),
            "successors first": successors_first(vault),
            "answers first": decisions_before_questions(vault.documents),
            "newest first": newest_matching_first(vault),
            "cut": cut,
        },
    )


def vsearch(vault: Vault, embedder: Embedder) -> Pipeline:
    """Return a pipeline for the nearest fragment per document. It computes no confidence, and refuses a floor."""
    return Pipeline(
        vault,
        {
            "search": by_meaning_alone(
                RunRetrievers({"vector": vector_retriever(vault, embedder, VECTOR_ALONE_DEPTH)})
            ),
            "nearest": nearest(vault.documents),
            "score": score(vault.documents),
            "successors first": successors_first(vault),
            "answers first": decisions_before_questions(vault.documents),
            "newest first": newest_matching_first(vault),
            "cut": cut,
        },
    )


def openclaw(vault: Vault, embedder: Embedder) -> Pipeline:
    """Return a pipeline that ranks passages as OpenClaw does: by cosine, and by the rank among those with every word."""
    from clawmem.app.services.retrieval.stages.openclaw import (
        every_word_retriever,
        merge_passages,
        nearest_passages_retriever,
    )

    legs = {"passage": every_word_retriever(vault), "vector": nearest_passages_retriever(vault, embedder)}
    return Pipeline(
        vault,
        {
            "search": RunRetrievers(legs, at_hand=partial(local_retrievers, vault, embedder)),
            "merge": merge_passages(vault),
        },
    )


def query(
    vault: Vault,
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
        "lexical": lexical_retriever(vault.lexical),
        "vector": vector_retriever(vault, embedder),
        "temporal": temporal_retriever(vault.documents),
        **reformulation_retrievers(vault, embedder, models),
    }
    return Pipeline(
        vault,
        {
            **expansion_stage(vault, models),
            "search": RunRetrievers(legs, at_hand=partial(local_retrievers, vault, embedder)),
            "fuse": fuse(vault.documents),
            **comparison_stage(vault, late, embedder),
            "weigh vectors": weigh_vectors(vault),
            "precise first": precise_first(vault.documents),
            "exact first": exact_first(vault.documents),
            **reranking_stages(vault, models),
            "judge": judge(vault),
            "score": score(vault.documents),
            "successors first": successors_first(vault),
            "answers first": decisions_before_questions(vault.documents),
            "versions": versions_in_order(vault),
            "diversify": diversify(vault.documents),
            "newest first": newest_matching_first(vault),
            "named time first": named_time_first(vault),
            "cut": cut,
        },
        asks_models=models.are_asked,
    )
