"""The query embedder: the model of the serving vectors, even while another model is being introduced."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from clawmem.app.services.models import NONE, Provider
from clawmem.ports.errors import ClawmemError, ModelMismatch
from clawmem.ports.models import Embedder, Sketcher, is_in_process, is_remote, sketcher_of
from clawmem.ports.records import Vector

if TYPE_CHECKING:
    from clawmem.ports.indexes import EmbeddingStore

STATIC = "wordllama:"  # prefix of the fingerprints of the static word vectors


@dataclass(eq=False, slots=True)
class ServingEmbedder:
    """
    ``Embedder`` of the currently serving space; for an empty vault, the chosen model.

    While vectors of the chosen model are under construction, the older model embeds questions. Models are loaded on
    first use, and a chosen server gets no requests before it serves.

    Args:
        chosen: Returns the model that the settings select.
        local: Returns the local model with a fingerprint; ``None`` if there is none.
        by_name: Whether the settings name the model; if not, the vault may keep its vectors.
    """

    embeddings: EmbeddingStore
    chosen: Callable[[], Embedder]
    local: Callable[[str], Embedder | None]
    by_name: bool = False
    _known: dict[str, Embedder] = field(default_factory=dict, init=False)

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
        stored = self.embeddings.fingerprint()
        if stored and stored not in self._known:
            with suppress(ClawmemError):  # raised again when a question is embedded
                if local := self.local(stored):
                    self._known[stored] = local
        return is_in_process(self._known.get(stored or ""))

    @property
    def is_remote(self) -> bool:
        """Whether the serving model is a server of another machine."""
        return is_remote(self._serving())

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
            embedder = self.local(fingerprint)
            if embedder is None:
                embedder = self.chosen()
                if embedder.fingerprint != fingerprint:
                    raise ModelMismatch(fingerprint, embedder.fingerprint)
            self._known[fingerprint] = embedder
        return self._known[fingerprint]

    def for_new_texts(self) -> Embedder:
        """Return the model of the vectors that the vault keeps, else the chosen one. Raises as `of`."""
        older = self._kept()
        return self.of(older) if older else self.chosen()

    def of_vault(self) -> Embedder | None:
        """Return the same as `for_new_texts`; ``None`` if the model of the vault is unavailable."""
        older = self._kept()
        return self.local(older) if older else self.chosen()

    def shown_provider(self, chosen: Provider) -> Provider:
        """Return the provider of the embedder of the vault, which may differ from the *chosen* one; loads nothing."""
        older = self._kept()
        if not older:
            return chosen
        change = f"{chosen.chosen} is installed; to change to it, run: clawmem embed --force"
        if self.local(older) is None:
            reason = f"the model of the vectors is not available here ({chosen.reason})"
            return Provider(chosen.role, NONE, f"{reason}. {change}")
        name = "static" if older.startswith(STATIC) else older
        return Provider(chosen.role, name, f"the vectors are of this model. {change}")

    def _kept(self) -> str | None:
        """
        Return the fingerprint of the vectors that the vault keeps although another model is chosen.

        A model that is installed later replaces no vectors without ``--force``: embedding a large vault again takes
        long. An interrupted replacement continues.
        """
        serving, building = self.embeddings.fingerprint(), self.embeddings.building()
        known = (serving, building.fingerprint if building else None)
        return serving if not self.by_name and serving and self.chosen().fingerprint not in known else None

    def _serving(self) -> Embedder:
        stored = self.embeddings.fingerprint()
        return self.of(stored) if stored else self.chosen()
