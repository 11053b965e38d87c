from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from clawmem.ports.derived_index import DerivedIndex
from clawmem.ports.records import EVERYTHING, Hit, Scope, Vector, VectorEntry


class VectorIndex(DerivedIndex, Protocol):
    """Vectors to fragments by cosine."""

    def put(self, entries: Iterable[VectorEntry]) -> None:
        """
        Add vectors; one that is there already under the same key is replaced.

        Raises:
            BadVector: not finite, all zeros, or of another length than those already there.
        """
        ...

    def remove(self, document_id: int) -> None:
        """Take every vector of a document out. One that is not there changes nothing."""
        ...

    def search(self, vector: Vector, limit: int, scope: Scope = EVERYTHING) -> list[Hit]:
        """
        The *limit* nearest fragments, score = cosine in [-1, 1], descending, then key.

        Exact, unless the backend lacks `Capability.EXACT`; then scores are still cosines, and of the true nearest
        few are missing. The scope is applied before the cut. An empty index, an all-zero vector or a
        limit below 1 give an empty list.

        Raises:
            BadVector: *vector* has another length than those in the index.
        """
        ...

    def count(self) -> int:
        """How many vectors it holds."""
        ...
