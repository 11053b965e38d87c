from __future__ import annotations

from contextlib import AbstractContextManager

from clawmem.ports.documents import DocumentStore
from clawmem.ports.embeddings import EmbeddingStore
from clawmem.ports.lease import LeaseStore
from clawmem.ports.lexical_index import LexicalIndex
from clawmem.ports.outbox import Outbox
from clawmem.ports.telemetry import Telemetry
from clawmem.ports.vault import Vault, VaultInfo
from clawmem.ports.vector_index import VectorIndex


class AssembledVault:
    """A vault's records with other indexes, so that the suites of the index ports can be run on an index alone."""

    def __init__(
        self, records: Vault, *, lexical: LexicalIndex | None = None, vectors: VectorIndex | None = None
    ) -> None:
        self._records = records
        self._lexical = lexical or records.lexical
        self._vectors = vectors or records.vectors

    @property
    def documents(self) -> DocumentStore:
        """The records' documents."""
        return self._records.documents

    @property
    def lexical(self) -> LexicalIndex:
        """The given index, or the records' own."""
        return self._lexical

    @property
    def vectors(self) -> VectorIndex:
        """The given index, or the records' own."""
        return self._vectors

    @property
    def embeddings(self) -> EmbeddingStore:
        """The records' vectors."""
        return self._records.embeddings

    @property
    def leases(self) -> LeaseStore:
        """The records' leases."""
        return self._records.leases

    @property
    def outbox(self) -> Outbox:
        """The records' outbox."""
        return self._records.outbox

    @property
    def telemetry(self) -> Telemetry:
        """The records' telemetry."""
        return self._records.telemetry

    def writing(self) -> AbstractContextManager[None]:
        """The records' transaction; the other indexes do not take part in it."""
        return self._records.writing()

    def info(self) -> VaultInfo:
        """What the records say."""
        return self._records.info()

    def check(self) -> list[str]:
        """What is wrong with any part."""
        return [*self._records.check(), *self._lexical.faults(), *self._vectors.faults()]

    def close(self) -> None:
        """Close every part."""
        for part in (self._lexical, self._vectors, self._records):
            part.close()
