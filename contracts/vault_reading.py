from __future__ import annotations

from clawmem.contracts.base import VaultContract
from clawmem.contracts.vault import assert_holds, write_everywhere
from clawmem.ports.vault import Vault


class VaultReadingContract(VaultContract):
    """Blocks of reads that see the same state. Supply ``vault``: an EMPTY ``Vault``."""

    def test_reading_block_holds_what_was_there(self, vault: Vault) -> None:
        """
        Reads in a block, and in a block within it, find what was written before; reads after it what is written
        since.
        """
        first = write_everywhere(vault, "a.md", "budget")
        with vault.transactions.reading():
            with vault.transactions.reading():
                assert_holds(vault, [first])
            assert_holds(vault, [first])
        second = write_everywhere(vault, "b.md", "budget")

        assert_holds(vault, [first, second])
        with vault.transactions.reading():
            assert_holds(vault, [first, second])

    def test_transaction_reads_its_own_changes(self, vault: Vault) -> None:
        """A block of reads inside a transaction finds the changes of that transaction."""
        with vault.transactions.writing():
            saved = write_everywhere(vault, "a.md", "budget")
            with vault.transactions.reading():
                assert_holds(vault, [saved])
