from __future__ import annotations

from clawmem.ports.lexical_index import LexicalIndex
from clawmem.ports.vault import DelegatingVault, Vault
from clawmem.ports.vector_index import VectorIndex


class AssembledVault(DelegatingVault):
    """A vault's records combined with other indexes, to run the suites of the index ports on a single index."""

    def __init__(
        self, records: Vault, *, lexical: LexicalIndex | None = None, vectors: VectorIndex | None = None
    ) -> None:
        super().__init__(records)
        self._lexical = lexical or records.lexical
        self._vectors = vectors or records.vectors

    @property
    def lexical(self) -> LexicalIndex:
        """Lexical index passed to the constructor, or the records' own."""
        return self._lexical

    @property
    def vectors(self) -> VectorIndex:
        """Vector index passed to the constructor, or the records' own."""
        return self._vectors
