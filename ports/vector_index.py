from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from clawmem.ports.derived_index import DerivedIndex
from clawmem.ports.records import EVERYTHING, Hit, Scope, Vector, VectorEntry


class VectorIndex(DerivedIndex, Protocol):
    """Index of fragments by the cosine similarity of their vectors."""

    def put(self, entries: Iterable[VectorEntry]) -> None:
        """
        Add vectors; a vector replaces an existing one with the same key.

        Raises:
            BadVector: a vector is not finite, all zeros, or not of the same length as the existing ones.
        """

    def remove(self, document_id: int) -> None:
        """Delete every vector of a document. An unknown document changes nothing."""

    def search(self, vector: Vector, limit: int, scope: Scope = EVERYTHING) -> list[Hit]:
        """
        Return the *limit* nearest fragments with their cosine as score in [-1, 1], descending, then by key.

        Exact, unless the backend lacks `Capability.EXACT`: then scores are still cosines, but a few of the
        true nearest fragments may be missing. The scope is applied before the limit. An empty index, an
        all-zero vector or a limit below 1 return an empty list.

        Raises:
            BadVector: *vector* has another length than those in the index.
        """

    def count(self) -> int:
        """Return the number of vectors."""
