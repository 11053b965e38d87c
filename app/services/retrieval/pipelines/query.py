"""``query``: lexical, vector and temporal search together."""

from __future__ import annotations

from functools import partial

from clawmem.app.services.retrieval.legs.ask_all import RunRetrievers
from clawmem.app.services.retrieval.legs.at_hand import local_retrievers
from clawmem.app.services.retrieval.legs.lexical import lexical_retriever
from clawmem.app.services.retrieval.legs.temporal import temporal_retriever
from clawmem.app.services.retrieval.legs.vector import vector_retriever
from clawmem.app.services.retrieval.pipeline import Pipeline
from clawmem.app.services.retrieval.pipelines.with_models import (
    NO_MODELS,
    Models,
    expansion_stage,
    reformulation_retrievers,
    reranking_stages,
)
from clawmem.app.services.retrieval.stages.compare import compare
from clawmem.app.services.retrieval.stages.cut import cut
from clawmem.app.services.retrieval.stages.diversify import diversify
from clawmem.app.services.retrieval.stages.fuse import fuse
from clawmem.app.services.retrieval.stages.judge import judge
from clawmem.app.services.retrieval.stages.named_time_first import named_time_first
from clawmem.app.services.retrieval.stages.newest_first import newest_matching_first
from clawmem.app.services.retrieval.stages.precise_first import precise_first
from clawmem.app.services.retrieval.stages.score import score
from clawmem.app.services.retrieval.stages.successors_first import successors_first
from clawmem.app.services.retrieval.stages.versions_in_order import versions_in_order
from clawmem.ports.embedder import Embedder
from clawmem.ports.late_interaction import LateInteraction
from clawmem.ports.vault import Vault


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
        "lexical": lexical_retriever(vault),
        "vector": vector_retriever(vault, embedder),
        "temporal": temporal_retriever(vault),
        **reformulation_retrievers(vault, embedder, models),
    }
    return Pipeline(
        vault,
        {
            **expansion_stage(vault, models),
            "search": RunRetrievers(legs, at_hand=partial(local_retrievers, vault, embedder)),
            "fuse": fuse(vault),
            **({"compare": compare(vault, late, embedder)} if late else {}),
            "precise first": precise_first(vault),
            **reranking_stages(vault, models),
            "judge": judge(vault),
            "score": score(vault),
            "successors first": successors_first(vault),
            "versions": versions_in_order(vault),
            "diversify": diversify(vault),
            "newest first": newest_matching_first(vault),
            "named time first": named_time_first(vault),
            "cut": cut,
        },
        asks_models=models.are_asked,
    )
