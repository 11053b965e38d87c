from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple, Protocol


class Claims(NamedTuple):
    """
    Addresses, as written in a note, of the notes that it supersedes and of the notes that supersede it.

    Addresses are stored verbatim. `SuccessionStore.aim` later sets the place that an address refers to.
    """

    supersedes: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()


NO_CLAIMS = Claims()


class Succession(NamedTuple):
    """Pair of documents, by id, of which the newer one supersedes the older one."""

    older: int
    newer: int


class ClaimKind(StrEnum):
    """Front-matter property that names the other note."""

    SUPERSEDES = "supersedes"
    SUPERSEDED_BY = "superseded_by"


class Claim(NamedTuple):
    """One address in the claims of a document, and the place that it refers to: a collection and a path."""

    document_id: int
    kind: ClaimKind
    address: str
    place: tuple[str, str]


class SuccessionStore(Protocol):
    """
    Store of claims by which documents supersede each other.

    A claim refers to a place: unless `aim` set another one, the address is a path in the collection of the
    claiming document. The place is resolved when successions are read, so that documents may be saved in any
    order. It resolves to the document served there or, if the file there was removed, to the documents with
    the same body in the same collection, because the file was renamed. A claim is in effect while its
    document is served.
    """

    def claim(self, document_id: int, claims: Claims) -> None:
        """
        Replace all claims of a document; `NO_CLAIMS` deletes them.

        Raises:
            InvalidInput: the document is unknown; nothing was stored.
        """

    def claims(self) -> list[Claim]:
        """Return every claim of a served document, ordered by document, kind and address."""

    def aim(self, claim: Claim) -> None:
        """
        Set the place of the claim with this document, kind and address to ``claim.place``, if there is such a claim.
        """

    def direct(self, document_ids: Iterable[int]) -> set[Succession]:
        """
        Return every succession whose older document is one of these, with both documents served, regardless of age.

        Only one step: to follow a chain, call it again with the newer documents. A document never supersedes
        itself; if two documents claim to supersede each other, both successions are returned.
        """
