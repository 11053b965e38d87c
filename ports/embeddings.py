from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from clawmem.ports.records import EVERYTHING, Hit, PendingText, Scope, Vector, VectorEntry

if TYPE_CHECKING:
    from clawmem.ports.status import EmbeddingBuild, EmbeddingCounts


class EmbeddingStore(Protocol):
    """
    Store of canonical vectors, keyed by the hash of the embedded text.

    Content-addressed: a text that reappears, in the same document or another, already has its vector. The
    serving vectors come from one model, identified by its fingerprint; a vector index is derived from them
    and can be discarded. A second embedding space can be built next to the serving one (``beside=True``),
    from another model or from the same model again. It is not searched until it replaces the serving space as
    a whole, in one step.
    """

    def fingerprint(self) -> str | None:
        """Return the fingerprint of the serving vectors; ``None`` while there are none."""

    def building(self) -> EmbeddingBuild | None:
        """Return the embedding space being built and its approximate progress; cheap enough to call at every query."""

    def pending(self, limit: int, *, beside: bool = False) -> list[PendingText]:
        """
        Return up to *limit* texts of active documents that have no vector and failed fewer than three times.

        Ordered by document and fragment, each text once; a limit below 1 returns none. The text of a fragment
        is its context, a line break and its text, stripped; its name is the SHA-256 of that, in hex. Empty
        texts and texts of the kinds in `NEVER_EMBEDDED` are excluded. A text that failed for good does not
        block the others.

        In the space being built, texts that precede the last stored one may be returned after all others;
        without such a space the list is empty.
        """

    def store(
        self, fingerprint: str, vectors: Mapping[str, Vector], *, beside: bool = False
    ) -> list[VectorEntry]:
        """
        Store vectors by text hash, all or none. Documents whose texts are now complete become ``synced``.

        A store keeps at least 16 bits of a number: multiples of 1/32767 stay as they are, others may be rounded.

        Returns:
            Each active fragment whose text one of the vectors embeds, with the vector as it was stored: the input
                for a vector index.
            Empty for vectors stored *beside*, which do not change any document either.

        Raises:
            ModelMismatch: vectors of another fingerprint are stored, or no such space is being built.
            BadVector: a vector is empty, not finite, not of the same length as the stored ones, or not unit
                length.
        """

    def fail(self, text_hashes: Sequence[str], error: str, *, beside: bool = False) -> None:
        """
        Count one failed attempt for each text.

        At the third failure a text leaves the worklist, and its documents become ``failed``. Each space
        counts its own failures; failures *beside* change no document.
        """

    def of_document(self, document_id: int) -> list[VectorEntry]:
        """Return the vectors of a document's fragments, in fragment order; empty for an inactive document."""

    def nearest(
        self,
        vector: Vector,
        limit: int,
        scope: Scope = EVERYTHING,
        *,
        documents: Collection[int] | None = None,
    ) -> list[Hit]:
        """
        Return the nearest fragments by an exhaustive scan of the stored vectors: slow, but independent of any index.

        Like `VectorIndex.search`, restricted to *documents* if given.
        """

    def counts(self, *, beside: bool = False) -> EmbeddingCounts:
        """
        Return the counts of texts of active documents by state, and of stored vectors that no active document uses.

        With *beside*, all counts are zero if no space is being built.
        """

    def documents_without(self) -> int:
        """Return the number of active documents that lack a serving vector; cheap enough for every query."""

    def clean(self) -> int:
        """
        Delete vectors and failures that no active document uses, in both spaces.

        If no serving vector remains, the vault has no model any more, and indexes of that model are outdated.

        Returns:
            The number of serving vectors deleted.
        """

    def begin(self, fingerprint: str) -> None:
        """Begin an empty space next to the serving one, replacing any space that was begun before."""

    def give_up(self) -> None:
        """Abandon the space being built; does nothing if there is none."""

    def take_over(self) -> bool:
        """
        Make the space being built the serving one, with its failures, and set the state of each document accordingly.

        The former serving vectors become unused, and every external index of them is outdated; the caller
        replaces the content of the vault's own index in the same transaction.

        Returns:
            Whether the space took over. False while one of its texts is pending, or if there is no such
            space.
        """

    def discard(self, limit: int) -> int:
        """
        Delete up to *limit* vectors of spaces that are neither serving nor being built.

        Returns:
            The number of vectors deleted.
        """

    def clear(self) -> None:
        """Delete all vectors, failures and fingerprints; all documents become ``pending``."""
