"""Wiring of surfacing by hand, because the container alone would take longer than the answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from clawmem.app.interfaces.hooks.word_models import PromptModels
from clawmem.app.settings.plain import SurfacingSettings

if TYPE_CHECKING:
    from clawmem.app.interfaces.hooks.embed_server import EmbedServer
    from clawmem.app.services.indexes.vault import ServedVault
    from clawmem.app.services.retrieval.pipelines.with_models import Models
    from clawmem.app.services.retrieval.recalls import Recalls
    from clawmem.app.services.surfacing.pipeline import RetrievalDependencies
    from clawmem.app.services.surfacing.surface import FactsOf, SurfaceContext
    from clawmem.domain.surfacing.profiles import Profile
    from clawmem.ports.embedder import Embedder

PROMPT_MODELS = PromptModels()


def surface_over(
    vault: ServedVault,
    settings: SurfacingSettings,
    profile: Profile,
    models: PromptModels = PROMPT_MODELS,
    server: EmbedServer | None = None,
) -> SurfaceContext:
    """Return the surfacing service over an opened vault, with only the models that *profile* uses."""
    from clawmem.adapters.system.clock import SystemClock
    from clawmem.app.interfaces.hooks.safety import safe
    from clawmem.app.services.surfacing.surface import BlockRendering, SurfaceContext

    clock = SystemClock()
    dressing = BlockRendering(safe, _redacted, _facts_of(vault), nudge_interval=settings.nudge_interval)
    return SurfaceContext(
        vault, _means(vault, settings, profile, models, server), dressing, clock, _recalls(vault, settings)
    )


def _means(
    vault: ServedVault,
    settings: SurfacingSettings,
    profile: Profile,
    models: PromptModels,
    server: EmbedServer | None,
) -> RetrievalDependencies:
    from clawmem.app.services.surfacing.pipeline import RetrievalDependencies

    guard = RetrievalDependencies(_gives_orders, threads=models.threads)
    if not profile.by_meaning:
        return guard
    means = guard._replace(embedder=_embedder(vault, settings, models, server), late=models.comparing())
    return means._replace(models=lambda: _servers(vault, settings)) if settings.servers else means


def _facts_of(vault: ServedVault) -> FactsOf:
    """Return a function for facts about names in a prompt, which imports its service on first use."""

    def facts_of(prompt: str, budget: int) -> list[str]:
        from clawmem.app.interfaces.hooks.safety import safe
        from clawmem.app.services.surfacing.facts import FactsAbout

        return FactsAbout(vault, safe, _gives_orders)(prompt, budget)

    return facts_of


def _redacted(text: str, start: int, end: int) -> str:
    from clawmem.domain.security.redaction import redact_part

    return redact_part(text, start, end)


def _gives_orders(text: str) -> bool:
    from clawmem.domain.security.promptguard import inspect

    return inspect(text).dropped


def _embedder(
    vault: ServedVault, settings: SurfacingSettings, models: PromptModels, server: EmbedServer | None
) -> Embedder:
    from pathlib import Path

    from clawmem.app.interfaces.hooks.embed_server import EmbedServer
    from clawmem.app.services.indexing.serving_embedder import ServingEmbedder

    folder = Path(settings.models)
    return ServingEmbedder(
        vault.embeddings,
        server or EmbedServer(vault, settings),
        lambda fingerprint: models.embedder_of(fingerprint, folder),
    )


@contextmanager
def _servers(vault: ServedVault, settings: SurfacingSettings) -> Iterator[Models]:
    """Yield the configured model servers. Local models are not used, as every prompt would load them again."""
    from clawmem.adapters.system.clock import SystemClock
    from clawmem.app.bootstrap.models import ModelContext, served
    from clawmem.app.services.models.watching import REST_MS
    from clawmem.app.services.retrieval.pipelines.with_models import Models
    from clawmem.app.settings.sections import ModelServer, RerankServer, servers_in
    from clawmem.ports.model_failures import ModelRole

    clock, named = SystemClock(), servers_in(settings.servers)
    with ExitStack() as stack:
        around = ModelContext(vault.model_failures, clock, stack, REST_MS)

        def model(role: ModelRole, name: str, kind: type[ModelServer]) -> Any:
            return served(role, kind(**named[name]).model_dump(), around).model if name in named else None

        generator = model(ModelRole.GENERATOR, "llm_server", ModelServer)
        yield Models(generator, model(ModelRole.RERANKER, "rerank_server", RerankServer), clock)


def _recalls(vault: ServedVault, settings: SurfacingSettings) -> Recalls:
    from clawmem.adapters.system.clock import SystemClock
    from clawmem.app.services.retrieval.recalls import Recalls, Retention

    return Recalls(
        vault.telemetry,
        SystemClock(),
        vault.receipts,
        enabled=settings.remembers,
        forgets=settings.forgets,
        retention=Retention(settings.recall_days, settings.receipt_days),
    )
