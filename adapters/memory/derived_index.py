from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from clawmem.ports.records import Document, LexicalEntry, Marker, Scope, VectorEntry


class Commits:
    """Base class of the indexes in memory, which roll a failed commit back from a copy."""

    def __init__(self) -> None:
        self._marker: Marker | None = None
        self._is_committing = False

    @abstractmethod
    def snapshot(self) -> Callable[[], None]:
        """Return a function that restores the current state of the index."""

    def marker(self) -> Marker | None:
        return self._marker

    @contextmanager
    def committing(self, marker: Marker | None = None) -> Iterator[None]:
        if self._is_committing:
            raise RuntimeError("A commit is open already; committing() is not reentrant.")
        undo = self.snapshot()
        self._is_committing = True
        try:
            yield
            self._marker = marker or self._marker
        except BaseException:
            undo()
            raise
        finally:
            self._is_committing = False

    def optimize(self) -> None:
        """Do nothing: this index has nothing to optimize."""

    def faults(self) -> list[str]:
        return []

    def close(self) -> None:
        """Do nothing: there is nothing to release."""


def is_in(scope: Scope, entry: LexicalEntry | VectorEntry | Document) -> bool:
    """Whether *entry* is in *scope*."""
    document_id = entry.id if isinstance(entry, Document) else entry.key.document_id
    return (
        (not scope.collections or entry.collection in scope.collections)
        and (scope.authored_from is None or entry.authored_at >= scope.authored_from)
        and (scope.authored_until is None or entry.authored_at < scope.authored_until)
        and (scope.documents is None or document_id in scope.documents)
    )
