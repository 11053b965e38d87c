"""The stores of a vault by use, and the ways to ask it, for tests that build services directly."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from clawmem.app.services.retrieval.pipelines import intent_search, query, search, vsearch
from clawmem.app.services.retrieval.plan import Ask, MemoryRetrieve, QueryPlan
from clawmem.app.services.retrieval.work import RetrievalStores
from clawmem.ports.models import Embedder, LateInteraction
from clawmem.ports.vault import Vault


def retrieval_stores(vault: Vault) -> RetrievalStores:
    return RetrievalStores(
        transactions=vault.transactions,
        documents=vault.documents,
        successions=vault.successions,
        properties=vault.properties,
        links=vault.links,
        lexical=vault.lexical,
        vectors=vault.vectors,
        embeddings=vault.embeddings,
        entities=vault.entities,
        relations=vault.relations,
        answers=vault.answers,
    )


WAYS = ("search", "vsearch", "query", "intent_search", "query_plan")


def ways_to_ask(vault: Vault, embedder: Embedder, late: LateInteraction | None = None) -> dict[str, Ask]:
    """Every way of `WAYS` by its name."""
    stores = retrieval_stores(vault)
    return {
        "search": search(stores),
        "vsearch": vsearch(stores, embedder),
        "query": query(stores, embedder, late),
        "intent_search": intent_search(stores, embedder),
        "query_plan": QueryPlan(stores, embedder),
    }


def one_way_in(vault: Vault, ways: Mapping[str, Ask]) -> MemoryRetrieve:
    """What asks in the way of *ways* that a question calls for."""
    makers = {name: partial(ways.__getitem__, name) for name in ways}
    return MemoryRetrieve(vault.documents, vault.sessions, makers)
