from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from clawmem.ports.named_tuple import NamedTuple


class Claims(NamedTuple):
    """
    Which documents a document says it takes the place of, and which have taken its own.

    Paths from the top of its collection; what stands there, or ever will, is not looked up when they are kept.
    """

    supersedes: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()


NO_CLAIMS = Claims()


class Succession(NamedTuple):
    """One document has taken the place of another, by their ids."""

    older: int
    newer: int


class SuccessionStore(Protocol):
    """
    Which document holds instead of which, as they say themselves.

    A claim is kept as a path and resolved when it is asked for, so that documents may come in any order. It
    means the served document at that path in the same collection; where none is and the one that was there is
    `removed`, whatever is served with the same body: a file that was renamed. What a document says holds
    while it is served.
    """

    def claim(self, document_id: int, claims: Claims) -> None:
        """
        Let *claims* be all that a document says; `NO_CLAIMS` takes everything back.

        Raises:
            InvalidInput: the vault does not know the document; nothing was stored.
        """
        ...

    def direct(self, document_ids: Iterable[int]) -> set[Succession]:
        """
        Every succession that has one of these as the older document, both ends served, of any length of time.

        One step: what has superseded the newer document must be asked for in turn. Nothing supersedes itself;
        two documents that each claim the other are both answered.
        """
        ...
