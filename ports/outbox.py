from collections.abc import Sequence
from typing import NamedTuple, Protocol

from clawmem.ports.records import IndexRecord, Marker, Role


class Changes(NamedTuple):
    """Changed documents, each once in the order of its first change, and the marker of the last change among them."""

    document_ids: tuple[int, ...]
    upto: Marker


class Outbox(Protocol):
    """
    Log of changes for external indexes, written in the same transaction as the changes themselves.

    Every saved or retracted document is a change for both roles; every vector stored or deleted is a change
    for `Role.VECTORS`. The log starts when the first index is registered; without registered indexes it is
    empty.
    """

    def head(self) -> Marker:
        """Return the marker of an index that has seen every change."""

    def knows(self, marker: Marker) -> bool:
        """
        Whether all changes after *marker* are still available, so that an index at *marker* can catch up.

        False for a marker of another vault, for a marker ahead of the vault, for a marker of a history that
        was cut off by restoring a backup, and for a marker so old that changes after it were trimmed.
        """

    def after(self, marker: Marker, role: Role, limit: int | None = None) -> Changes:
        """
        Return the changes after *marker* that are relevant to this role, at most *limit* changes.

        ``upto`` equals *marker* if nothing changed.
        """

    def indexes(self) -> Sequence[IndexRecord]:
        """Return every registered index, by role and generation."""

    def register(self, role: Role, engine: str) -> IndexRecord:
        """
        Register a new generation for a role, in state building from the present head. Logging starts here at
        the latest.
        """

    def built(self, record: IndexRecord, to: int) -> None:
        """Store the progress of a building index: it contains every document up to the id *to*."""

    def seen(self, record: IndexRecord, marker: Marker) -> None:
        """
        Store that an index has seen the changes up to *marker*.

        Changes that every building and serving index has seen are deleted, except the last one, so that a
        marker at the last change is still recognised.
        """

    def serve(self, record: IndexRecord | None, role: Role) -> None:
        """
        Make *record* the serving index of its role, or the vault's own index with ``None``; the former one is retired.
        """

    def unregister(self, record: IndexRecord) -> None:
        """Remove an index from the register; removing the last one deletes all logged changes."""
