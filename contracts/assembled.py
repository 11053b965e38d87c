from __future__ import annotations

from clawmem.ports.lexical_index import LexicalIndex
from clawmem.ports.vault import Vault, VaultOver
from clawmem.ports.vector_index import VectorIndex


class AssembledVault(VaultOver):
    """A vault's records with other indexes, so that the suites of the index ports can be run on an index alone."""

    def __init__(
        self, records: Vault, *, lexical: LexicalIndex | None = None, vectors: VectorIndex | None = None
    ) -> None:
        super().__init__(records)
        self._lexical = lexical or records.lexical
        self._vectors = vectors or records.vectors

    @property
    def lexical(self) -> LexicalIndex:
        """The given index, or the records' own."""
        return self._lexical

    @property
    def vectors(self) -> VectorIndex:
        """The given index, or the records' own."""
        return self._vectors
