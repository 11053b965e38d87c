"""Embedding models for prompts, in a short-lived process and in a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from clawmem.app.services.retrieval.legs.threads import NamedThreads
    from clawmem.ports.embedder import Embedder
    from clawmem.ports.late_interaction import LateInteraction


class PromptModels:
    """Models for a single prompt."""

    threads: NamedThreads | None = None  # for the retrievers of a question; not shared

    def embedder_of(self, fingerprint: str, folder: Path) -> Embedder | None:
        """Return the local embedder of this fingerprint, if any; large models are in *folder*."""
        from clawmem.app.bootstrap.known_models import embedder_of

        return embedder_of(fingerprint, folder)

    def comparing(self) -> LateInteraction:
        """Return the model that compares texts word by word."""
        from clawmem.adapters.models.static_words import installed_words

        return installed_words()


class CachedModels(PromptModels):
    """Models for many prompts: each is loaded once."""

    threads: NamedThreads

    def __init__(self) -> None:
        from clawmem.app.services.retrieval.legs.threads import NamedThreads

        self.threads = NamedThreads()
        self._known: dict[str, Embedder | None] = {}

    def embedder_of(self, fingerprint: str, folder: Path) -> Embedder | None:
        """See `PromptModels.embedder_of`; a missing model is looked up again at each call."""
        from clawmem.app.bootstrap.known_models import embedder_of

        if self._known.get(fingerprint) is None:
            self._known[fingerprint] = embedder_of(fingerprint, folder)
        return self._known[fingerprint]
