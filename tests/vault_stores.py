"""The stores of a vault by use, for tests that build services directly."""

from __future__ import annotations

from clawmem.app.services.retrieval.work import RetrievalStores
from clawmem.ports.vault import Vault


def retrieval_stores(vault: Vault) -> RetrievalStores:
    return RetrievalStores(
        transactions=vault.transactions,
        documents=vault.documents,
        successions=vault.successions,
        properties=vault.properties,
        lexical=vault.lexical,
        vectors=vault.vectors,
        embeddings=vault.embeddings,
        sketches=vault.sketches,
        entities=vault.entities,
        relations=vault.relations,
        answers=vault.answers,
    )
