"""One embedding space, and the model that fills it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clawmem.ports.embedder import Embedder
from clawmem.ports.errors import (
    BadVector,
    ClawmemError,
    EmbeddingError,
    InputTooLong,
    ModelError,
    ModelMismatch,
)
from clawmem.ports.records import PendingText, Vector
from clawmem.ports.vault import Vault


class SpaceFiller:
    """
    Fills the serving embedding space, or the one under construction, and counts the results.

    ``stopped`` means that the model failed, not a single text; ``error`` is the last error.
    """

    def __init__(self, vault: Vault, embedder: Embedder, *, beside: bool = False) -> None:
        self._vault = vault
        self._embedder = embedder
        self.beside = beside
        self.embedded = 0
        self.failed = 0
        self.stopped = False
        self.error: str | None = None

    def advance(self, limit: int) -> bool:
        """Embed the next *limit* texts; return whether there were any."""
        batch = [] if self.stopped else self._vault.embeddings.pending(limit, beside=self.beside)
        if batch:
            self._embed(batch)
        return bool(batch)

    def _embed(self, batch: Sequence[PendingText]) -> None:
        try:
            vectors = self._embedder.embed_documents([item.text for item in batch])
        except (EmbeddingError, ModelError) as error:
            self._excuse(batch, error)
            return
        known = {item.text_hash: v for item, v in zip(batch, vectors, strict=True) if any(v)}
        wordless = [item.text_hash for item in batch if item.text_hash not in known]
        self._store(known)
        if wordless and not self.stopped:
            self._fail(wordless, "the model knows no word of it")

    def _excuse(self, batch: Sequence[PendingText], error: ClawmemError) -> None:
        """Stop if the model fails; for an unreadable text, halve the batch to find it."""
        if isinstance(error, BadVector | ModelError | ModelMismatch) and not isinstance(error, InputTooLong):
            self._stop(error)
        elif len(batch) == 1:
            self._fail([batch[0].text_hash], str(error))
        else:
            half = len(batch) // 2
            for part in (batch[:half], batch[half:]):
                if not self.stopped:
                    self._embed(part)

    def _store(self, vectors: Mapping[str, Vector]) -> None:
        embeddings = self._vault.embeddings
        try:
            with self._vault.writing():
                entries = embeddings.store(self._embedder.fingerprint, vectors, beside=self.beside)
                self._vault.vectors.put(entries)
        except (ModelMismatch, ModelError) as error:  # another model took over, here or at the server
            self._stop(error)
        else:
            self.embedded += len(vectors)

    def _fail(self, text_hashes: Sequence[str], error: str) -> None:
        with self._vault.writing():
            self._vault.embeddings.fail(text_hashes, error, beside=self.beside)
        self.failed += len(text_hashes)
        self.error = error

    def _stop(self, error: ClawmemError) -> None:
        self.error, self.stopped = str(error), True
