"""``search``: lexical search alone."""

from __future__ import annotations

from clawmem.app.services.retrieval.legs.ask_all import RunRetrievers
from clawmem.app.services.retrieval.legs.lexical import lexical_retriever
from clawmem.app.services.retrieval.pipeline import Pipeline
from clawmem.app.services.retrieval.stages.cut import cut
from clawmem.app.services.retrieval.stages.fuse import fuse
from clawmem.app.services.retrieval.stages.judge import judge
from clawmem.app.services.retrieval.stages.newest_first import newest_matching_first
from clawmem.app.services.retrieval.stages.precise_first import precise_first
from clawmem.app.services.retrieval.stages.score import score
from clawmem.app.services.retrieval.stages.successors_first import successors_first
from clawmem.ports.vault import Vault


def search(vault: Vault) -> Pipeline:
    """Return a pipeline that searches words at every granularity and adds up the scores; it uses no model."""
    return Pipeline(
        vault,
        {
            "search": RunRetrievers({"lexical": lexical_retriever(vault)}),
            "fuse": fuse(vault),
            "precise first": precise_first(vault),
            "judge": judge(vault),
            "score": score(vault),
            "successors first": successors_first(vault),
            "newest first": newest_matching_first(vault),
            "cut": cut,
        },
    )
