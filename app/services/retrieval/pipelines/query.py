"""``query``: by words and meaning together."""

from __future__ import annotations

from clawmem.app.services.retrieval.legs.ask_all import AskAll
from clawmem.app.services.retrieval.legs.lexical import lexical_leg
from clawmem.app.services.retrieval.legs.vector import vector_leg
from clawmem.app.services.retrieval.pipeline import Pipeline
from clawmem.app.services.retrieval.stages.cut import cut
from clawmem.app.services.retrieval.stages.diversify import diversify
from clawmem.app.services.retrieval.stages.fuse import fuse
from clawmem.app.services.retrieval.stages.score import score
from clawmem.ports.embedder import Embedder
from clawmem.ports.vault import Vault


def query(vault: Vault, embedder: Embedder) -> Pipeline:
    """Both legs side by side, one sum of scores, metadata for near-ties, near-copies last."""
    return Pipeline(
        vault,
        {
            "search": AskAll({"lexical": lexical_leg(vault), "vector": vector_leg(vault, embedder)}),
            "fuse": fuse(vault),
            "score": score(vault),
            "diversify": diversify(vault),
            "cut": cut,
        },
    )
