"""Who embeds a question: the model whose vectors serve, whichever model was chosen to follow it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from clawmem.ports.embedder import Embedder
from clawmem.ports.errors import ModelMismatch
from clawmem.ports.in_process import is_in_process
from clawmem.ports.records import Vector
from clawmem.ports.sketches import Sketcher, sketcher_of

if TYPE_CHECKING:
    from clawmem.ports.embeddings import EmbeddingStore


class ServingEmbedder:
    """
    ``Embedder`` of the space that serves at this moment; of an empty vault, the chosen one.

    While a chosen model's vectors are made beside them, questions belong to the older ones. Nothing is
    loaded before it is needed, and a server that was chosen is not asked as long as it does not serve.

    Args:
        chosen: What the settings amount to.
        local: The model of a fingerprint that can be run here; ``None`` when there is none.
    """

    def __init__(
        self,
        embeddings: EmbeddingStore,
        chosen: Callable[[], Embedder],
        local: Callable[[str], Embedder | None],
    ) -> None:
        self._embeddings = embeddings
        self._chosen = chosen
        self._local = local
        self._known: dict[str, Embedder] = {}

    @property
    def fingerprint(self) -> str:
        """Raises `ModelMismatch` when nothing here embeds as the stored vectors were."""
        return self._serving().fingerprint

    @property
    def dimensions(self) -> int:
        return self._serving().dimensions

    @property
    def in_process(self) -> bool:
        """Whether the serving model is, once it is known: to look for it may mean to ask a server."""
        return is_in_process(self._known.get(self._embeddings.fingerprint() or ""))

    def embed_query(self, text: str) -> Vector:
        return self._serving().embed_query(text)

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        return self._serving().embed_documents(texts)

    @property
    def sketcher(self) -> Sketcher | None:
        """The serving model, where it has vectors for words too."""
        return sketcher_of(self._serving())

    def of(self, fingerprint: str) -> Embedder:
        """
        The embedder of a space.

        Raises:
            ModelMismatch: nothing here embeds like that.
            ModelError, EmbeddingError: the chosen one cannot say what it is.
        """
        if fingerprint not in self._known:
            self._known[fingerprint] = self._local(fingerprint) or self._chosen_as(fingerprint)
        return self._known[fingerprint]

    def _serving(self) -> Embedder:
        stored = self._embeddings.fingerprint()
        return self.of(stored) if stored else self._chosen()

    def _chosen_as(self, fingerprint: str) -> Embedder:
        chosen = self._chosen()
        if chosen.fingerprint != fingerprint:
            raise ModelMismatch(fingerprint, chosen.fingerprint)
        return chosen
