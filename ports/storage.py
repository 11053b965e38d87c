"""The storage of a vault: its size, its soundness, and its end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from clawmem.ports.lexical_index import LexicalIndex
from clawmem.ports.records import LexicalEntry
from clawmem.ports.status import VaultInfo


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
        checksums, which `clawmem.ports.derived_index.DerivedIndex.faults` verifies.
        """

    def scratch_lexical(self) -> LexicalIndex:
        """Return an empty in-memory lexical index that splits and ranks words like the vault's own index."""

    def close(self) -> None:
        """Release all resources; a second call does nothing."""
