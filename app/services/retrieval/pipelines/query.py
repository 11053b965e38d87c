"""``query``: lexical, vector and temporal search together."""

from __future__ import annotations

from functools import partial

from clawmem.app.services.retrieval.legs.ask_all import AskAll
from clawmem.app.services.retrieval.legs.at_hand import legs_at_hand
from clawmem.app.services.retrieval.legs.lexical import lexical_leg
from clawmem.app.services.retrieval.legs.temporal import temporal_leg
from clawmem.app.services.retrieval.legs.vector import vector_leg
from clawmem.app.services.retrieval.pipeline import Pipeline
from clawmem.app.services.retrieval.pipelines.with_models import (
    NO_MODELS,
    Models,
    legs_for_other_words,
    other_words,
    second_reading,
)
from clawmem.app.services.retrieval.stages.compare import compare
from clawmem.app.services.retrieval.stages.cut import cut
from clawmem.app.services.retrieval.stages.diversify import compared, diversify
from clawmem.app.services.retrieval.stages.fuse import fuse
from clawmem.app.services.retrieval.stages.judge import judge
from clawmem.app.services.retrieval.stages.named_time_first import named_time_first
from clawmem.app.services.retrieval.stages.newest_first import newest_matching_first
from clawmem.app.services.retrieval.stages.precise_first import precise_first
from clawmem.app.services.retrieval.stages.score import score
from clawmem.app.services.retrieval.stages.successors_first import successors_first
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
        "lexical": lexical_leg(vault),
        "vector": vector_leg(vault, embedder),
        "temporal": temporal_leg(vault),
        **legs_for_other_words(vault, embedder, models),
    }
    return Pipeline(
        vault,
        {
            **other_words(vault, models),
            "search": AskAll(legs, at_hand=partial(legs_at_hand, vault, embedder)),
            "fuse": fuse(vault),
            **({"compare": compare(vault, late, embedder)} if late else {}),
            "precise first": precise_first(vault),
            **second_reading(vault, models),
            "judge": judge(vault),
            "score": score(vault, compared),
            "successors first": successors_first(vault),
            "diversify": diversify(vault),
            "newest first": newest_matching_first(vault),
            "named time first": named_time_first(vault),
            "cut": cut,
        },
    )
