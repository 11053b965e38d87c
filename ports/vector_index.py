from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from clawmem.ports.records import EVERYTHING, FragmentKey, Hit, Scope, Vector


class VectorIndex(Protocol):
    """Vectors to fragments by cosine. Derived: everything in it can be put there again from the records."""

    def put(self, vectors: Iterable[tuple[FragmentKey, Vector]]) -> None:
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

        Exact, unless the backend says otherwise in its figures. The scope is applied before the cut. An
        empty index, an all-zero vector or a limit below 1 give an empty list.

        Raises:
            BadVector: *vector* has another length than those in the index.
        """
        ...

    def count(self) -> int:
        """How many vectors it holds."""
        ...

    def clear(self) -> None:
        """Empty the index."""
        ...

    @property
    def method(self) -> str:
        """How it answers, for `status` and `doctor`: for example ``"vec0"`` or ``"exact scan"``."""
        ...
