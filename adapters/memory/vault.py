from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from clawmem.adapters.memory.documents import MemoryDocuments
from clawmem.adapters.memory.embeddings import MemoryEmbeddings
from clawmem.adapters.memory.leases import MemoryLeases
from clawmem.adapters.memory.lexical_index import MemoryLexicalIndex
from clawmem.adapters.memory.outbox import MemoryOutbox
from clawmem.adapters.memory.tables import Tables
from clawmem.adapters.memory.telemetry import MemoryTelemetry
from clawmem.adapters.memory.vector_index import MemoryVectorIndex
from clawmem.ports.documents import DocumentStore
from clawmem.ports.embeddings import EmbeddingStore
from clawmem.ports.lease import LeaseStore
from clawmem.ports.lexical_index import LexicalTail
from clawmem.ports.outbox import Outbox
from clawmem.ports.telemetry import Telemetry
from clawmem.ports.vault import VaultInfo
from clawmem.ports.vector_index import VectorIndex


class MemoryVault:
    """
    ``Vault`` that is gone with its process: the reference to read first.

    A transaction copies records and indexes when it begins and puts the copies back when it fails.
    Leases stand outside of it: a token that was given must never be given again.
    """

    def __init__(self) -> None:
        self._tables = Tables()
        self._is_writing = False
        self._documents = MemoryDocuments(self._tables)
        self._lexical = MemoryLexicalIndex()
        self._vectors = MemoryVectorIndex()
        self._embeddings = MemoryEmbeddings(self._tables)
        self._leases = MemoryLeases()
        self._telemetry = MemoryTelemetry()
        self._outbox = MemoryOutbox(self._tables)

    @property
    def documents(self) -> DocumentStore:
        return self._documents

    @property
    def lexical(self) -> LexicalTail:
        return self._lexical

    @property
    def vectors(self) -> VectorIndex:
        return self._vectors

    @property
    def embeddings(self) -> EmbeddingStore:
        return self._embeddings

    @property
    def leases(self) -> LeaseStore:
        return self._leases

    @property
    def outbox(self) -> Outbox:
        return self._outbox

    @property
    def telemetry(self) -> Telemetry:
        return self._telemetry

    @contextmanager
    def writing(self) -> Iterator[None]:
        if self._is_writing:
            raise RuntimeError("A transaction is open already; writing() is not reentrant.")
        undo = (self._tables.snapshot(), self._lexical.snapshot(), self._vectors.snapshot())
        self._is_writing = True
        try:
            yield
        except BaseException:
            for restore in undo:
                restore()
            raise
        finally:
            self._is_writing = False

    def info(self) -> VaultInfo:
        return VaultInfo(
            backend="memory",
            location=":memory:",
            schema=0,
            size_bytes=sum(len(body.encode()) for body in self._tables.bodies.values()),
            read_only=False,
            lexical_method=self._lexical.method,
            vector_method=self._vectors.method,
        )

    def check(self) -> list[str]:
        return []

    def close(self) -> None:
        """Nothing to give back."""
