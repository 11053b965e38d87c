"""Optional stages that need a model. Without the model there is no stage, and nothing is imported."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from clawmem.app.services.retrieval.work import Stage
from clawmem.ports.clock import Clock
from clawmem.ports.vault import Vault

if TYPE_CHECKING:
    from clawmem.app.services.retrieval.legs.ask_all import Retriever
    from clawmem.ports.embedder import Embedder
    from clawmem.ports.generator import Generator
    from clawmem.ports.reranker import Reranker


class Models(NamedTuple):
    """Optional models for retrieval, and the clock that dates their cached answers."""

    generator: Generator | None = None
    reranker: Reranker | None = None
    clock: Clock | None = None

    @property
    def are_asked(self) -> bool:
        """Whether a stage waits for one of them."""
        return bool(self.generator or self.reranker)


NO_MODELS = Models()


def expansion_stage(vault: Vault, models: Models) -> dict[str, Stage]:
    """Return the stage before retrieval that reformulates the question."""
    if models.generator is None or models.clock is None:
        return {}
    from clawmem.app.services.retrieval.stages.expand import expand

    return {"expand": expand(vault, models.generator, vault.answers, models.clock)}


def reformulation_retrievers(vault: Vault, embedder: Embedder, models: Models) -> dict[str, Retriever]:
    """Return the additional retrievers for reformulations of the question."""
    if models.generator is None:
        return {}
    from clawmem.app.services.retrieval.legs.variants import variant_retrievers

    return variant_retrievers(vault, embedder)


def reranking_stages(vault: Vault, models: Models) -> dict[str, Stage]:
    """Return the stages between fusion and scoring in which a reranker reads the best candidates."""
    if models.reranker is None or models.clock is None:
        return {}
    from clawmem.app.services.retrieval.stages.blend import blend
    from clawmem.app.services.retrieval.stages.choose_chunk import choose_chunk
    from clawmem.app.services.retrieval.stages.rerank import rerank

    return {
        "choose chunk": choose_chunk(vault, models.reranker),
        "rerank": rerank(models.reranker, vault.answers, models.clock),
        "blend": blend,
    }
