"""Transactions over all stores of a vault."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol


class Transactions(Protocol):
    """Reads of one state, and writes that take effect together."""

    def reading(self) -> AbstractContextManager[None]:
        """
        Return a context manager for reads of one thread that see the same state, so that nothing is read twice.

        Changes that are committed during the block are not seen in it. Nested blocks are part of the outermost one.
        Keep the block short, because `Storage.scrub` waits for its end.
        """

    def writing(self) -> AbstractContextManager[None]:
        """
        Return a context manager for one transaction: its changes become visible and durable at its end, or not at all.

        Not reentrant: nesting raises RuntimeError. A single write outside a block is a transaction of its
        own.

        Raises:
            VaultLocked: another process kept writing past the busy time-out.
            VaultReadOnly: the vault was opened read-only.
            VaultFull: the disk is full; the transaction was rolled back.
            InterruptedAfterCommit: Ctrl-C arrived during the commit or after it. Any other interrupt rolls back.
        """
