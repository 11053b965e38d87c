from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from clawmem.ports.records import (
    EVERYTHING,
    Hit,
    PendingText,
    Scope,
    Vector,
    VectorEntry,
)


@dataclass(frozen=True, slots=True)
class EmbeddingCounts:
    """How far the vectors of one model are: texts with one, waiting, given up; and orphans nobody uses."""

    stored: int = 0
    pending: int = 0
    failed: int = 0
    orphaned: int = 0


@dataclass(frozen=True, slots=True)
class Building:
    """
    Vectors of the model ``fingerprint`` that are made beside those that serve.

    ``share`` says for people how far they are, 0 to 1: documents passed, of all.
    """

    fingerprint: str
    share: float


class EmbeddingStore(Protocol):
    """
    The canonical vectors, kept by the hash of the text they stand for.

    Content-addressed: a text that comes back, in the same document or another, has its vector already.
    The vectors that serve are of one model, named by its fingerprint; a vector index is derived from
    them and can be thrown away. Another space can be filled ``beside`` them, of another model or of the
    same one anew. Nothing is found through it until it takes over, at once and as a whole.
    """

    def fingerprint(self) -> str | None:
        """The model whose vectors serve; ``None`` while there are none, also after the last one went."""
        ...

    def building(self) -> Building | None:
        """The space that is made beside, and about how far it is; cheap enough to ask at every question."""
        ...

    def pending(self, limit: int, *, beside: bool = False) -> list[PendingText]:
        """
        Up to *limit* texts of active documents that have no vector and failed fewer than three times.

        Ordered by document and fragment, each text once; a limit below 1 gives none. The text of a fragment
        is its context, a line break and its text, stripped; its name the SHA-256 of that, in hex. Texts
        of the kinds in `NEVER_EMBEDDED` and empty ones are not. A given-up text holds no other back.

        Of the space beside, texts before the last one that was stored may come after all others; without
        such a space there are none.
        """
        ...

    def store(
        self, fingerprint: str, vectors: Mapping[str, Vector], *, beside: bool = False
    ) -> list[VectorEntry]:
        """
        Keep vectors by text hash, all or none. Documents whose texts are now complete become ``synced``.

        Returns:
            Each active fragment that one of the vectors stands for, with it: what a vector index has to see.
            Nothing for vectors *beside*, which change no document either.

        Raises:
            ModelMismatch: vectors of another fingerprint are stored, or no such space is made beside.
            BadVector: a vector is empty, not finite, of another length than the stored ones, or not unit length.
        """
        ...

    def fail(self, text_hashes: Sequence[str], error: str, *, beside: bool = False) -> None:
        """
        Count one failed attempt for each text; at the third it leaves the worklist, its documents ``failed``.

        Each space has failures of its own; those *beside* change no document.
        """
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

    def counts(self, *, beside: bool = False) -> EmbeddingCounts:
        """
        Texts of active documents by their state, and stored vectors that no active document uses.

        Without a space *beside* all of it is zero.
        """
        ...

    def documents_without(self) -> int:
        """Return how many active documents lack a vector of the serving model; cheap enough for every question."""
        ...

    def clean(self) -> int:
        """
        Delete vectors and failures that no active document uses, of both spaces; how many serving vectors went.

        A model whose last vector went is no longer that of the vault, and indexes of it are outdated.
        """
        ...

    def begin(self, fingerprint: str) -> None:
        """Begin an empty space beside, in the place of one that was begun before."""
        ...

    def give_up(self) -> None:
        """Take no further interest in the space beside; without one nothing happens."""
        ...

    def take_over(self) -> bool:
        """
        Let the space beside serve from now on, with its failures; documents are in the state that it gives them.

        The vectors that served until now are of no more use, and every index of them outside is outdated;
        what the vault's own index holds the caller replaces in the same transaction.

        Returns:
            Whether it did: not while a text is pending beside, and not without such a space.
        """
        ...

    def discard(self, limit: int) -> int:
        """Delete up to *limit* vectors of spaces that neither serve nor are made; how many went."""
        ...

    def clear(self) -> None:
        """Forget every vector, failure and fingerprint; all documents become ``pending``."""
        ...
