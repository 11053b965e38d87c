"""What reads a prompt: in a process that ends with it, and in one that stays."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from clawmem.app.services.retrieval.legs.threads import NamedThreads
    from clawmem.ports.embedder import Embedder
    from clawmem.ports.late_interaction import LateInteraction


class ForOnePrompt:
    """What is quick to begin with, and slower than others with every word."""

    threads: NamedThreads | None = None  # for the legs of a question; none is kept

    def embedder_of(self, fingerprint: str, folder: Path) -> Embedder | None:
        """The embedder that makes vectors of this fingerprint, if one here does; large ones lie in *folder*."""
        from clawmem.adapters.models.static_few import few_of
        from clawmem.app.known_models import embedder_of

        return few_of(fingerprint) or embedder_of(fingerprint, folder)

    def comparing(self) -> LateInteraction:
        """Who compares texts word by word."""
        from clawmem.adapters.models.static_few import FewWords

        return FewWords()


class ForMany(ForOnePrompt):
    """What takes its time to begin with, and is kept: of each model one, and every word that was ever met."""

    threads: NamedThreads

    def __init__(self) -> None:
        from clawmem.app.services.retrieval.legs.threads import NamedThreads

        self.threads = NamedThreads()
        self._known: dict[str, Embedder | None] = {}

    def embedder_of(self, fingerprint: str, folder: Path) -> Embedder | None:
        """See `ForOnePrompt.embedder_of`; one that was not there is looked for again."""
        from clawmem.app.known_models import embedder_of

        if self._known.get(fingerprint) is None:
            self._known[fingerprint] = embedder_of(fingerprint, folder)
        return self._known[fingerprint]

    def comparing(self) -> LateInteraction:
        """See `ForOnePrompt.comparing`."""
        from clawmem.adapters.models.static_words import installed_words

        return installed_words()
