"""The query embedder: the model of the serving vectors, even while another model is being introduced."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from clawmem.ports.errors import ClawmemError, ModelMismatch
from clawmem.ports.models import Embedder, Sketcher, is_in_process, sketcher_of
from clawmem.ports.records import Vector

if TYPE_CHECKING:
    from clawmem.ports.indexes import EmbeddingStore


class ServingEmbedder:
    """
    ``Embedder`` of the currently serving space; for an empty vault, the chosen model.

    While vectors of the chosen model are under construction, the older model embeds questions. Models are loaded on
    first use, and a chosen server gets no requests before it serves.

    Args:
        chosen: Returns the model that the settings select.
        local: Returns the local model with a fingerprint; ``None`` if there is none.
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
        """The fingerprint of the serving model. Raises `ModelMismatch` if that model is not available."""
        return self._serving().fingerprint

    @property
    def dimensions(self) -> int:
        """The length of its vectors."""
        return self._serving().dimensions

    @property
    def in_process(self) -> bool:
        """Whether the serving model computes in this process. Finding out loads no weights and asks no server."""
        stored = self._embeddings.fingerprint()
        if stored and stored not in self._known:
            with suppress(ClawmemError):  # raised again when a question is embedded
                if local := self._local(stored):
                    self._known[stored] = local
        return is_in_process(self._known.get(stored or ""))

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a question."""
        return self._serving().embed_query(text)

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Return the vectors of *texts*."""
        return self._serving().embed_documents(texts)

    @property
    def sketcher(self) -> Sketcher | None:
        """The serving model as a `Sketcher`, if it has vectors for words."""
        return sketcher_of(self._serving())

    def of(self, fingerprint: str) -> Embedder:
        """
        Return the embedder of a space.

        Raises:
            ModelMismatch: no available model has this fingerprint.
            ModelError, EmbeddingError: the chosen model has no known fingerprint.
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
