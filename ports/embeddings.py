from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from clawmem.ports.records import PendingText, Vector, VectorEntry
from clawmem.ports.vector_index import VectorSearch

if TYPE_CHECKING:
    from clawmem.ports.status import EmbeddingBuild, EmbeddingCounts


class EmbeddingStore(VectorSearch, Protocol):
    """
    Store of the only copy of the vectors, keyed by the hash of the embedded text, and their search.

    Content-addressed: a text that reappears, in the same document or another, already has its vector. The
    serving vectors come from one model, identified by its fingerprint; an external vector index is filled with them
    and can be discarded. A second embedding space can be built next to the serving one (``building=True``),
    from another model or from the same model again. It is not searched until it replaces the serving space as
    a whole, in one step.
    """

    def fingerprint(self) -> str | None:
        """Return the fingerprint of the serving vectors; ``None`` while there are none."""

    def building(self) -> EmbeddingBuild | None:
        """Return the embedding space being built and its approximate progress; cheap enough to call at every query."""

    def pending(self, limit: int, *, building: bool = False) -> list[PendingText]:
        """
        Return up to *limit* texts of active documents that have no vector and failed fewer than three times.

        Ordered by document and fragment, each text once; a limit below 1 returns none. The text of a fragment
        is its context, a line break and its text, stripped; its name is the SHA-256 of that, in hex. Empty
        texts and texts of the kinds in `NEVER_EMBEDDED` are excluded. A text that failed for good does not
        block the others.

        In the space being built, texts that precede the last stored one may be returned after all others;
        without such a space the list is empty.
        """

    def store(self, fingerprint: str, vectors: Mapping[str, Vector], *, building: bool = False) -> None:
        """
        Store vectors by text hash, all or none. Documents whose texts are now complete become ``synced``.

        A store may round the numbers of a vector to steps of 1/127. Vectors of the space being built change no document.

        Raises:
            ModelMismatch: vectors of another fingerprint are stored, or no such space is being built.
            BadVector: a vector is empty, not finite, not of the same length as the stored ones, or not unit
                length.
        """

    def fail(self, text_hashes: Sequence[str], error: str, *, building: bool = False) -> None:
        """
        Count one failed attempt for each text.

        At the third failure a text leaves the worklist, and its documents become ``failed``. Each space
        counts its own failures; those of the space being built change no document.
        """

    def of_document(self, document_id: int) -> list[VectorEntry]:
        """Return the vectors of a document's fragments, in fragment order; empty for an inactive document."""

    def counts(self, *, building: bool = False) -> EmbeddingCounts:
        """
        Return the counts of texts of active documents by state, and of stored vectors that no active document uses.

        With *building*, all counts are zero if no space is being built.
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

        The former serving vectors become unused, and every external index of them is outdated.

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

    def rebuild(self) -> int:
        """
        Write the vectors that can be read to a new table, and forget the texts of all others, which become pending.

        Returns:
            The number of texts that lost their vector.
        """
