"""Working off the texts that have no vector yet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from clawmem.ports.embedder import Embedder
from clawmem.ports.errors import (
    BadVector,
    ClawmemError,
    EmbeddingError,
    InputTooLong,
    ModelError,
    ModelMismatch,
)
from clawmem.ports.records import EmbeddingCounts, PendingText, Vector
from clawmem.ports.vault import Vault

BATCH = 512  # texts a transaction: well under 50 ms of writing, and a killed run loses no more

Progress = Callable[[int, int], None]


@dataclass(slots=True)
class EmbedReport:
    """
    What one run did: texts embedded, texts that failed, vectors nobody used any more.

    ``stopped`` says that the model, not a text, was the trouble: what is left waits for another run.
    """

    embedded: int = 0
    failed: int = 0
    cleaned: int = 0
    error: str | None = None
    stopped: bool = False


class EmbedPending:
    """
    Embed what has no vector, batch by batch; stopping anywhere and starting again loses nothing.

    Vectors go to the records first and to the index in the same transaction.
    """

    def __init__(self, vault: Vault, embedder: Embedder) -> None:
        self._vault = vault
        self._embedder = embedder

    def __call__(self, *, force: bool = False, progress: Progress = lambda done, total: None) -> EmbedReport:
        """
        Run until nothing is pending; with *force* forget every vector first.

        Raises:
            ModelMismatch: the vault holds another model's vectors; nothing was changed.
        """
        report = EmbedReport()
        self._prepare(report, force)
        total = self._vault.embeddings.counts().pending
        while not report.stopped and (batch := self._vault.embeddings.pending(BATCH)):
            self._embed(batch, report)
            progress(report.embedded, max(total, report.embedded))
        return report

    def counts(self) -> EmbeddingCounts:
        """How far the vectors are."""
        return self._vault.embeddings.counts()

    def _prepare(self, report: EmbedReport, force: bool) -> None:
        stored = self._vault.embeddings.fingerprint()
        if stored not in (None, self._embedder.fingerprint) and not force:
            raise ModelMismatch(stored or "", self._embedder.fingerprint)
        with self._vault.writing():
            if force:
                self._vault.vectors.clear()
                self._vault.embeddings.clear()
            report.cleaned = self._vault.embeddings.clean()

    def _embed(self, batch: Sequence[PendingText], report: EmbedReport) -> None:
        try:
            vectors = self._embedder.embed_documents([item.text for item in batch])
        except (EmbeddingError, ModelError) as error:
            self._excuse(batch, error, report)
            return
        known = {item.text_hash: v for item, v in zip(batch, vectors, strict=True) if any(v)}
        wordless = [item.text_hash for item in batch if item.text_hash not in known]
        self._store(known, report)
        if wordless:
            self._fail(wordless, "the model knows no word of it", report)

    def _excuse(self, batch: Sequence[PendingText], error: ClawmemError, report: EmbedReport) -> None:
        """A model that does not work ends the run, a text that it cannot read is told from those around it."""
        if isinstance(error, BadVector | ModelError) and not isinstance(error, InputTooLong):
            report.error, report.stopped = str(error), True
        elif len(batch) == 1:
            self._fail([batch[0].text_hash], str(error), report)
        else:
            half = len(batch) // 2
            for part in (batch[:half], batch[half:]):
                if not report.stopped:
                    self._embed(part, report)

    def _store(self, vectors: dict[str, Vector], report: EmbedReport) -> None:
        with self._vault.writing():
            self._vault.vectors.put(self._vault.embeddings.store(self._embedder.fingerprint, vectors))
        report.embedded += len(vectors)

    def _fail(self, text_hashes: Sequence[str], error: str, report: EmbedReport) -> None:
        with self._vault.writing():
            self._vault.embeddings.fail(text_hashes, error)
        report.failed += len(text_hashes)
        report.error = error
