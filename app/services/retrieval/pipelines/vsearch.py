"""``vsearch``: vector search alone."""

from __future__ import annotations

from clawmem.app.services.retrieval.legs.ask_all import RunRetrievers
from clawmem.app.services.retrieval.legs.vector import VECTOR_ALONE_DEPTH, vector_retriever
from clawmem.app.services.retrieval.pipeline import Pipeline
from clawmem.app.services.retrieval.stages.cut import cut
from clawmem.app.services.retrieval.stages.judge import by_meaning_alone
from clawmem.app.services.retrieval.stages.nearest import nearest
from clawmem.app.services.retrieval.stages.newest_first import newest_matching_first
from clawmem.app.services.retrieval.stages.score import score
from clawmem.app.services.retrieval.stages.successors_first import successors_first
from clawmem.ports.embedder import Embedder
from clawmem.ports.vault import Vault


def vsearch(vault: Vault, embedder: Embedder) -> Pipeline:
    """Return a pipeline for the nearest fragment per document. It computes no confidence, and refuses a floor."""
    return Pipeline(
        vault,
        {
            "search": by_meaning_alone(
                RunRetrievers({"vector": vector_retriever(vault, embedder, VECTOR_ALONE_DEPTH)})
            ),
            "nearest": nearest(vault),
            "score": score(vault),
            "successors first": successors_first(vault),
            "newest first": newest_matching_first(vault),
            "cut": cut,
        },
    )
