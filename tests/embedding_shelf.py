"""Stories with vectors of one model, while another model's vectors are made."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from notes_vault import ASKED, STORIES, VECTORS, ServedNotesVault, WideEmbedder
from vault_stores import retrieval_stores
from wired import embed_pending

from clawmem.adapters.memory.models import HashingEmbedder
from clawmem.app.services.indexing.embed import EmbedReport
from clawmem.app.services.models import ServingEmbedder
from clawmem.app.services.retrieval.answer import Answer
from clawmem.app.services.retrieval.pipelines import query, vsearch
from clawmem.app.services.retrieval.request import read_request
from clawmem.ports.indexes import EmbeddingCounts
from clawmem.ports.models import Embedder
from clawmem.ports.records import Vector
from clawmem.ports.vault import Vault

OLD = HashingEmbedder.fingerprint


class Turned(HashingEmbedder):
    """Another model of the same length: what is near to a text is farthest for the first one."""

    fingerprint = "hashing-turned"

    def embed_query(self, text: str) -> Vector:
        # The sign is the highest bit of the last byte of each number.
        return bytes(b ^ 0x80 if n % 4 == 3 else b for n, b in enumerate(super().embed_query(text)))


class Interrupted(Turned):
    """Is stopped by its owner at a batch, and before that lets something happen at each."""

    def __init__(self, at: int, meanwhile: Callable[[], None] = lambda: None) -> None:
        self._left = at
        self._meanwhile = meanwhile

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        if self._left == 0:
            raise KeyboardInterrupt
        self._left -= 1
        self._meanwhile()
        return super().embed_documents(texts)


MODELS: dict[str, Embedder] = {
    model.fingerprint: model for model in (HashingEmbedder(), Turned(), WideEmbedder())
}


class Shelf(ServedNotesVault):
    """Stories with vectors of one model, and a vault over them that can be opened several times."""

    def embed(self, model: Embedder, *, force: bool = False) -> EmbedReport:
        return embed_pending(self.vault, model)(force=force)

    def ask(self, text: str, vault: Vault | None = None, verb: str = "vsearch") -> Answer:
        """As a question is asked at a door: by the model that serves."""
        asked = vault or self.vault
        embedder = ServingEmbedder(asked.embeddings, lambda: Turned(), MODELS.get)
        request = read_request(text, now_ms=self.clock.now_ms(), limit=3)
        return {"vsearch": vsearch, "query": query}[verb](retrieval_stores(asked), embedder)(request)

    def firsts(self, vault: Vault | None = None) -> dict[str, str]:
        """The best answer to every question."""
        return {text: self.ask(text, vault).results[0].document.path for text in ASKED}

    def serving(self) -> tuple[str | None, str | None]:
        """Whose vectors answer, and whose are being made."""
        building = self.vault.embeddings.building()
        return self.vault.embeddings.fingerprint(), building.fingerprint if building else None

    def held(self) -> int:
        """Vectors in the records, whether anybody sees them or not."""
        return int(self.records.storage.db.value("select count(*) from texts"))

    def assert_whole(self, model: str) -> None:
        """Everything is of one model, nothing is left of another, and every question is answered."""
        assert self.serving() == (model, None)
        assert self.vault.embeddings.counts() == EmbeddingCounts(stored=len(STORIES))
        assert self.held() == len(STORIES)
        assert self.vault.vectors.count() == VECTORS
        assert self.firsts() == ASKED
        assert self.verify() == []


def stopped(shelf: Shelf, at: int, meanwhile: Callable[[], None] = lambda: None) -> None:
    """Let the second model make vectors until it is stopped."""
    with pytest.raises(KeyboardInterrupt):
        shelf.embed(Interrupted(at, meanwhile))
