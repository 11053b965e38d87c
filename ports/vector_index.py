from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from clawmem.ports.derived_index import DerivedIndex
from clawmem.ports.records import EVERYTHING, Hit, Scope, Vector, VectorEntry


class VectorSearch(Protocol):
    """Search of fragments by the cosine similarity of their vectors."""

    @property
    def method(self) -> str:
        """Return the name of the search method, for `status` and `doctor`: for example ``"sqlite-vec"``."""

    def search(self, vector: Vector, limit: int, scope: Scope = EVERYTHING) -> list[Hit]:
        """
        Return the *limit* nearest fragments with their cosine as score in [-1, 1], descending, then by key.

        A store may keep vectors with less precision: a score may then be off by .02, and a fragment may be missing for
        one whose score is as close as that. Unless a backend lacks `Capability.EXACT`, none is missing otherwise. The
        scope is applied before the limit. An empty index, an all-zero vector or a limit below 1 return an empty list.

        Raises:
            BadVector: *vector* has another length than those in the index.
            IndexDamaged: the vectors cannot be read.
        """

    def count(self) -> int:
        """Return the number of fragments that have a vector."""

    def faults(self) -> list[str]:
        """Return the defects of the stored vectors as sentences without a full stop; an empty list if there are none."""

    def close(self) -> None:
        """Release all resources; a second call does nothing."""


class VectorIndex(VectorSearch, DerivedIndex, Protocol):
    """Index outside of the vault, filled from its embeddings."""

    def put(self, entries: Iterable[VectorEntry]) -> None:
        """
        Add vectors; a vector replaces an existing one with the same key.

        Raises:
            BadVector: a vector is not finite, all zeros, or not of the same length as the existing ones.
        """

    def remove(self, document_id: int) -> None:
        """Delete every vector of a document. An unknown document changes nothing."""
