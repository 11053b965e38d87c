from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from clawmem.ports.records import EVERYTHING, EmbeddingCounts, Hit, PendingText, Scope, Vector, VectorEntry


class EmbeddingStore(Protocol):
    """
    The canonical vectors, kept by the hash of the text they stand for.

    Content-addressed: a text that comes back, in the same document or another, has its vector already.
    All vectors belong to one model at a time, named by its fingerprint; a vector index is derived from
    this store and can be thrown away.
    """

    def fingerprint(self) -> str | None:
        """The model whose vectors are stored; ``None`` while there are none, also after the last one went."""
        ...

    def pending(self, limit: int) -> list[PendingText]:
        """
        Up to *limit* texts of active documents that have no vector and failed fewer than three times.

        Ordered by document and fragment, each text once; a limit below 1 gives none. The text of a fragment
        is its context, a line break and its text, stripped; its name the SHA-256 of that, in hex. Texts
        of the kinds in `NEVER_EMBEDDED` and empty ones are not. A given-up text holds no other back.
        """
        ...

    def store(self, fingerprint: str, vectors: Mapping[str, Vector]) -> list[VectorEntry]:
        """
        Keep vectors by text hash, all or none. Documents whose texts are now complete become ``synced``.

        Returns:
            Each active fragment that one of the vectors stands for, with it: what a vector index has to see.

        Raises:
            ModelMismatch: vectors of another fingerprint are stored.
            BadVector: a vector is empty, not finite, of another length than the stored ones, or not unit length.
        """
        ...

    def fail(self, text_hashes: Sequence[str], error: str) -> None:
        """Count one failed attempt for each text; at the third it leaves the worklist, its documents ``failed``."""
        ...

    def of_document(self, document_id: int) -> list[VectorEntry]:
        """The vectors that a document's fragments have, in fragment order; empty for an inactive document."""
        ...

    def nearest(
        self,
        vector: Vector,
        limit: int,
        scope: Scope = EVERYTHING,
        *,
        documents: Collection[int] | None = None,
    ) -> list[Hit]:
        """
        The nearest fragments by comparing with every stored vector: slow, and right whatever the indexes say.

        As `VectorIndex.search`, among these documents only when they are given.
        """
        ...

    def counts(self) -> EmbeddingCounts:
        """Texts of active documents by their state, and stored vectors that no active document uses."""
        ...

    def clean(self) -> int:
        """Delete vectors and failures that no active document uses; how many vectors went."""
        ...

    def clear(self) -> None:
        """Forget every vector, failure and the fingerprint; all documents become ``pending``."""
        ...
