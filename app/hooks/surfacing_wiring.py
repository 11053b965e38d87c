"""The parts that surfacing is made of, put together by hand: the container alone would cost more than the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clawmem.app.hooks.surfacing_choices import Chosen

if TYPE_CHECKING:
    from clawmem.app.services.indexes.vault import ServedVault
    from clawmem.app.services.retrieval.recalls import Recalls
    from clawmem.app.services.surfacing.pipeline import Means
    from clawmem.app.services.surfacing.surface import SurfaceContext
    from clawmem.domain.surfacing.profiles import Profile
    from clawmem.ports.embedder import Embedder


def surface_over(vault: ServedVault, chosen: Chosen, profile: Profile) -> SurfaceContext:
    """Surfacing over an opened vault; of the models only what *profile* asks for is even looked for."""
    from clawmem.adapters.system.clock import SystemClock
    from clawmem.app.hooks.safety import safe
    from clawmem.app.services.surfacing.surface import Dressing, SurfaceContext

    clock = SystemClock()
    dressing = Dressing(safe, _redacted, nudge_interval=chosen.nudge_interval)
    return SurfaceContext(vault, _means(vault, chosen, profile), dressing, clock, _recalls(vault, chosen))


def _means(vault: ServedVault, chosen: Chosen, profile: Profile) -> Means:
    from clawmem.app.services.surfacing.pipeline import Means

    guard = Means(_gives_orders)
    if not profile.by_meaning:
        return guard
    from clawmem.adapters.models.static_words import StaticWords

    return guard._replace(embedder=_embedder(vault, chosen), late=StaticWords())


def _redacted(text: str) -> str:
    from clawmem.domain.security.redaction import redact

    return redact(text).text


def _gives_orders(text: str) -> bool:
    from clawmem.domain.security.promptguard import inspect

    return inspect(text).dropped


def _embedder(vault: ServedVault, chosen: Chosen) -> Embedder:
    from clawmem.app.known_models import embedder_of
    from clawmem.app.services.indexing.serving_embedder import ServingEmbedder

    return ServingEmbedder(
        vault.embeddings, _configured, lambda fingerprint: embedder_of(fingerprint, chosen.models)
    )


def _configured() -> Embedder:
    """
    The embedder of the whole configuration: a server, for one; only when nothing here embeds as the vault was.

    Not the ``.env`` of the working folder: who clones a repository has not chosen what it says.
    """
    import os
    from typing import cast

    from clawmem.app.container import build_container
    from clawmem.app.settings import load_settings

    return cast("Embedder", build_container(load_settings(environ=os.environ), read_only=True).embedder())


def _recalls(vault: ServedVault, chosen: Chosen) -> Recalls:
    from clawmem.adapters.system.clock import SystemClock
    from clawmem.app.services.retrieval.recalls import Recalls, Retention

    return Recalls(
        vault.telemetry,
        SystemClock(),
        vault.receipts,
        enabled=chosen.remembers,
        forgets=chosen.forgets,
        retention=Retention(chosen.recall_days, chosen.receipt_days),
    )
