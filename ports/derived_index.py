from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from clawmem.ports.records import Marker


class DerivedIndex(Protocol):
    """
    Common interface of all indexes: an index can be rebuilt from the records, and it knows how current it is.

    An index inside the records' own store changes in their transaction. An external index is updated
    afterwards by a single indexer, and its marker tells which changes it has seen.
    """

    @property
    def method(self) -> str:
        """Return the name of the search method, for `status` and `doctor`: for example ``"tantivy"``."""

    def marker(self) -> Marker | None:
        """
        Return the marker of the last commit by any process, or ``None`` for a new or cleared index.

        Raises:
            IndexUnavailable, IndexDamaged: the index cannot be read.
        """

    def committing(self, marker: Marker | None = None) -> AbstractContextManager[None]:
        """
        Return a context manager for one commit: its changes become durable and visible to all processes at
        its end.

        The marker is part of the same commit; with ``None`` it stays unchanged. When the block raises, all
        its changes are rolled back. Not reentrant: nesting raises RuntimeError. A single change outside a
        block is a commit of its own.

        Raises:
            IndexBusy: another process is committing and did not finish in time.
            IndexUnavailable: the location of the index cannot be reached.
        """

    def clear(self) -> None:
        """Delete all entries and the marker. Afterwards the index can be refilled, with vectors of any length."""

    def optimize(self) -> None:
        """Make reading fast again after many commits. Does not change any result; may do nothing."""

    def faults(self) -> list[str]:
        """Return the defects inside the index as sentences; an empty list if it is sound."""

    def close(self) -> None:
        """Release all resources; a second call does nothing."""
