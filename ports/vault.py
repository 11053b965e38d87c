from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from clawmem.ports.documents import DocumentStore
from clawmem.ports.embeddings import EmbeddingStore
from clawmem.ports.lease import LeaseStore
from clawmem.ports.lexical_index import LexicalIndex
from clawmem.ports.vector_index import VectorIndex


@dataclass(frozen=True, slots=True)
class VaultInfo:
    """What a backend says about itself."""

    backend: str
    location: str
    schema: int
    size_bytes: int
    read_only: bool
    vector_method: str


class Vault(Protocol):
    """Records and indexes that belong together, and the one way to change them together."""

    @property
    def documents(self) -> DocumentStore:
        """Records: documents, bodies, fragments."""
        ...

    @property
    def lexical(self) -> LexicalIndex:
        """Words to fragments."""
        ...

    @property
    def vectors(self) -> VectorIndex:
        """Vectors to fragments, derived."""
        ...

    @property
    def embeddings(self) -> EmbeddingStore:
        """The canonical vectors and their worklist."""
        ...

    @property
    def leases(self) -> LeaseStore:
        """Who may do what only one may do."""
        ...

    def writing(self) -> AbstractContextManager[None]:
        """
        One transaction: everything inside becomes visible and durable when the block ends, or nothing does.

        Not reentrant: inside another it raises RuntimeError. A single write outside of a block is its own transaction.

        Raises:
            VaultLocked: another process kept writing past the busy time-out.
            VaultReadOnly: the vault was opened for reading.
            VaultFull: no space; rolled back.
        """
        ...

    def info(self) -> VaultInfo:
        """Kind, place, schema and size."""
        ...

    def check(self) -> list[str]:
        """What is wrong inside the storage itself (integrity, ranking self-test), in sentences; empty when sound."""
        ...

    def close(self) -> None:
        """Give everything back; a second call does nothing."""
        ...
