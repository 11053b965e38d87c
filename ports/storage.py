"""Ports for the transactions of a vault, and for the file or database that holds its stores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from clawmem.ports.indexes import LexicalIndex
from clawmem.ports.records import LexicalEntry


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


@dataclass(frozen=True, slots=True)
class VaultInfo:
    """Description of an open vault by its backend."""

    backend: str
    location: str
    schema: int
    size_bytes: int
    read_only: bool
    lexical_method: str
    vector_method: str


class Storage(Protocol):
    """The file or database that holds the stores of a vault."""

    def info(self) -> VaultInfo:
        """Return the backend, location, schema and size."""

    def scrub(self) -> None:
        """
        Overwrite deleted data, so that no byte of it remains in free pages or logs; call it outside of `writing`.

        This rewrites the whole vault and takes time proportional to its size.

        Raises:
            VaultLocked: another process is reading or writing; the call may be repeated.
            VaultReadOnly, VaultFull: nothing was changed.
        """

    def check(self) -> list[str]:
        """
        Return the defects of the storage itself (integrity, ranking self-test) as sentences; an empty list if
        it is sound.
        """

    def check_words(self, entries: Iterable[Sequence[LexicalEntry]]) -> list[str]:
        """
        Compare the vault's own lexical index, word by word, with the entries that it must hold, given in batches.

        Return the differences as sentences without a full stop. This finds what no other check finds, for example
        one wrong bit in the place of a word. An index outside of the vault is not compared: its files have
        checksums, which `clawmem.ports.indexes.DerivedIndex.faults` verifies.
        """

    def scratch_lexical(self) -> LexicalIndex:
        """Return an empty in-memory lexical index that splits and ranks words like the vault's own index."""

    def close(self) -> None:
        """Release all resources; a second call does nothing."""
