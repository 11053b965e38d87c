"""Embedding models for prompts, in a short-lived process and in a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from clawmem.app.services.retrieval.legs.threads import NamedThreads
    from clawmem.ports.embedder import Embedder
    from clawmem.ports.late_interaction import LateInteraction


class PromptModels:
    """Models for a single prompt: fast to load, slower for each word."""

    threads: NamedThreads | None = None  # for the retrievers of a question; not shared

    def embedder_of(self, fingerprint: str, folder: Path) -> Embedder | None:
        """Return the local embedder of this fingerprint, if any; large models are in *folder*."""
        from clawmem.adapters.models.static_pure import pure_embedder_of
        from clawmem.app.known_models import embedder_of

        return pure_embedder_of(fingerprint) or embedder_of(fingerprint, folder)

    def comparing(self) -> LateInteraction:
        """Return the model that compares texts word by word."""
        from clawmem.adapters.models.static_pure import PureStaticWords

        return PureStaticWords()


class CachedModels(PromptModels):
    """Models for many prompts: slower to load, cached once per model, with a cache of word vectors."""

    threads: NamedThreads

    def __init__(self) -> None:
        from clawmem.app.services.retrieval.legs.threads import NamedThreads

        self.threads = NamedThreads()
        self._known: dict[str, Embedder | None] = {}

    def embedder_of(self, fingerprint: str, folder: Path) -> Embedder | None:
        """See `PromptModels.embedder_of`; a missing model is looked up again at each call."""
        from clawmem.app.known_models import embedder_of

        if self._known.get(fingerprint) is None:
            self._known[fingerprint] = embedder_of(fingerprint, folder)
        return self._known[fingerprint]

    def comparing(self) -> LateInteraction:
        """See `PromptModels.comparing`."""
        from clawmem.adapters.models.static_words import installed_words

        return installed_words()
