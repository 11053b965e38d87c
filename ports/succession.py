from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Protocol

from clawmem.ports.named_tuple import NamedTuple


class Claims(NamedTuple):
    """
    Addresses, as a note writes them, of the notes that it supersedes and of those that have superseded it.

    An address is kept as it is written. `SuccessionStore.aim` says later which place it means.
    """

    supersedes: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()


NO_CLAIMS = Claims()


class Succession(NamedTuple):
    """One document has taken the place of another, by their ids."""

    older: int
    newer: int


class ClaimKind(StrEnum):
    """The property of a note that names the other note."""

    SUPERSEDES = "supersedes"
    SUPERSEDED_BY = "superseded_by"


class Claim(NamedTuple):
    """One address in the claims of a document, and the place that the address means: a collection and a path."""

    document_id: int
    kind: ClaimKind
    address: str
    place: tuple[str, str]


class SuccessionStore(Protocol):
    """
    Which document holds instead of which, as they say themselves.

    A claim means a place: until `aim` says otherwise, its address as a path in the collection of its document.
    The place is looked up when a succession is asked for, so that documents may come in any order. It stands for
    the document that is served there, or, if the file there was removed, for the documents with the same body in
    the same collection: the file was renamed. A claim holds while its document is served.
    """

    def claim(self, document_id: int, claims: Claims) -> None:
        """
        Let *claims* be all that a document says; `NO_CLAIMS` takes everything back.

        Raises:
            InvalidInput: the vault does not know the document; nothing was stored.
        """
        ...

    def claims(self) -> list[Claim]:
        """Return every claim of a served document, ordered by document, kind and address."""
        ...

    def aim(self, claim: Claim) -> None:
        """Let the claim with this document, kind and address mean ``claim.place``; nothing if there is none."""
        ...

    def direct(self, document_ids: Iterable[int]) -> set[Succession]:
        """
        Every succession that has one of these as the older document, both ends served, of any length of time.

        One step: what has superseded the newer document must be asked for in turn. Nothing supersedes itself;
        two documents that each claim the other are both answered.
        """
        ...
