"""Pipelines of an opened vault; each is built once, because its retrievers have threads and connections of their own."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clawmem.app.bootstrap.adapters import Adapters
    from clawmem.app.services.indexing.serving_embedder import ServingEmbedder
    from clawmem.app.services.retrieval.models import Models
    from clawmem.app.services.retrieval.pipeline import Pipeline
    from clawmem.app.services.retrieval.pipelines.memory_retrieve import IntentSearch, MemoryRetrieve
    from clawmem.app.services.retrieval.pipelines.query_plan import QueryPlan
    from clawmem.domain.retrieval.intent import Intent
    from clawmem.ports.vault import Vault


class Pipelines:
    """The pipelines over the vault and the models of *adapters*."""

    def __init__(self, adapters: Adapters) -> None:
        self._adapters = adapters

    @property
    def _vault(self) -> Vault:
        return self._adapters.vault

    @cached_property
    def embedder(self) -> ServingEmbedder:
        """
        Embedder of questions.

        While the vectors of the chosen model are being made, it is the model of the vectors that serve.
        """
        from clawmem.app.services.indexing.serving_embedder import ServingEmbedder

        adapters = self._adapters
        return ServingEmbedder(self._vault.embeddings, lambda: adapters.embedder, adapters.local_embedder)

    def named(self, name: str) -> Pipeline:
        """Return the pipeline of the verb *name*, such as ``query`` or ``memory_retrieve``."""
        pipeline: Pipeline = getattr(self, name)
        return pipeline

    @cached_property
    def search(self) -> Pipeline:
        """Keywords."""
        from clawmem.app.services.retrieval.pipelines.search import search

        return search(self._vault)

    @cached_property
    def vsearch(self) -> Pipeline:
        """Vectors."""
        from clawmem.app.services.retrieval.pipelines.search import vsearch

        return vsearch(self._vault, self.embedder)

    @cached_property
    def openclaw(self) -> Pipeline:
        """The hybrid search of OpenClaw's own memory."""
        from clawmem.app.services.retrieval.pipelines.search import openclaw

        return openclaw(self._vault, self.embedder)

    @cached_property
    def query(self) -> Pipeline:
        """All retrievers, with the models that there are."""
        from clawmem.app.services.retrieval.pipelines.search import query

        return query(self._vault, self.embedder, self._adapters.late_interaction, self._models)

    @cached_property
    def query_without_models(self) -> Pipeline:
        """All retrievers, without a generator and a reranker."""
        from clawmem.app.services.retrieval.pipelines.search import query

        return query(self._vault, self.embedder, self._adapters.late_interaction)

    @cached_property
    def intent_search(self) -> IntentSearch:
        """Retrievers weighted by the intent of the question, with the graph."""
        return self.intended()

    @cached_property
    def query_plan(self) -> QueryPlan:
        """Clauses of a question of several topics."""
        from clawmem.app.services.retrieval.pipelines.query_plan import planner, query_plan

        return query_plan(self._vault, self.embedder, planner(self._vault.sessions, self._adapters.generator))

    @cached_property
    def memory_retrieve(self) -> MemoryRetrieve:
        """The pipeline that fits the question."""
        from clawmem.app.services.retrieval.pipelines.memory_retrieve import MemoryRetrieve

        return MemoryRetrieve(
            self._vault,
            {
                "search": lambda: self.search,
                "vsearch": lambda: self.vsearch,
                "query": lambda: self.query,
                "intent_search": lambda: self.intent_search,
                "query_plan": lambda: self.query_plan,
            },
        )

    def intended(self, intent: Intent | None = None, *, with_graph: bool = True) -> IntentSearch:
        """Return the pipeline of a chosen intent; without *intent*, the question's words decide."""
        from clawmem.app.services.retrieval.pipelines.memory_retrieve import intent_search

        return intent_search(
            self._vault, self.embedder, intent=intent, with_graph=with_graph, models=self._models
        )

    @property
    def _models(self) -> Models:
        from clawmem.app.services.retrieval.models import Models

        return Models(self._adapters.generator, self._adapters.reranker, self._adapters.clock)
