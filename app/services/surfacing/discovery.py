"""Choice of the retrievers that are run for a prompt."""

from __future__ import annotations

from collections.abc import Mapping

from clawmem.app.services.retrieval.retrievers import lexical_retriever
from clawmem.app.services.retrieval.scheduling import Retriever
from clawmem.domain.surfacing.profiles import Profile
from clawmem.ports.embedder import Embedder
from clawmem.ports.vault import Vault


def legs_of(vault: Vault, embedder: Embedder | None, profile: Profile) -> Mapping[str, Retriever]:
    """Return the lexical retriever; with an *embedder* and if *profile* allows it, also vector and temporal ones."""
    words = lexical_retriever(vault)
    if embedder is None or not profile.by_meaning:
        return {"lexical": words}
    from clawmem.app.services.retrieval.retrievers import temporal_retriever, vector_retriever

    return {
        "lexical": words,
        "vector": vector_retriever(vault, embedder),
        "temporal": temporal_retriever(vault),
    }
