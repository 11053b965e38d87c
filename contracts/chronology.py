from __future__ import annotations

import pytest

from clawmem.contracts.base import VaultContract
from clawmem.contracts.samples import DAYS, save
from clawmem.ports.records import InactiveReason
from clawmem.ports.vault import Vault


class ChronologyContract(VaultContract):
    """Documents written just before and after a document. Supply ``vault``: an EMPTY ``Vault``."""

    def test_by_the_time_of_writing(self, vault: Vault) -> None:
        """
        The documents before and after are returned oldest first, regardless of the order in which they were saved.
        """
        third = save(vault, "3.md", authored_at=DAYS[2])
        first = save(vault, "1.md", authored_at=DAYS[0])
        focus = save(vault, "f.md", authored_at=DAYS[1])
        zeroth = save(vault, "0.md", authored_at="2023-12-31T23:59:59.999Z")
        last = save(vault, "4.md", authored_at="2024-03-03T00:00:00.001Z")

        assert vault.documents.written_before(focus, 9) == [zeroth, first]
        assert vault.documents.written_after(focus, 9) == [third, last]

    def test_the_nearest(self, vault: Vault) -> None:
        """A limit returns the documents nearest to the focus on each side; a limit below 1 returns none."""
        first, second, third, fourth, fifth = (save(vault, f"{number}.md") for number in range(5))

        assert vault.documents.written_before(third, 1) == [second]
        assert vault.documents.written_after(third, 1) == [fourth]
        assert vault.documents.written_before(fifth, 3) == [second, third, fourth]
        for limit in (0, -1):
            assert (
                vault.documents.written_before(third, limit)
                == vault.documents.written_after(third, limit)
                == []
            )
        assert first

    def test_within_a_collection(self, vault: Vault) -> None:
        """With a collection only its documents are returned, and other documents do not count against the limit."""
        mine = save(vault, "a.md", collection="mine")
        focus = save(vault, "f.md", collection="mine")
        other = save(vault, "b.md", collection="other")
        later = save(vault, "c.md", collection="mine")

        assert vault.documents.written_after(focus, 1, "mine") == [later]
        assert vault.documents.written_after(focus, 1) == [other]
        assert vault.documents.written_before(other, 9, "mine") == [mine, focus]
        assert vault.documents.written_before(focus, 9, "nobody") == []

    @pytest.mark.parametrize("reason", InactiveReason)
    def test_what_is_not_served_is_not_told(self, vault: Vault, reason: InactiveReason) -> None:
        """An inactive document is never returned, but its neighbours can still be requested."""
        first, gone, third = (save(vault, f"{number}.md") for number in range(3))

        vault.documents.deactivate([gone], reason)

        assert vault.documents.written_after(first, 9) == [third]
        assert (vault.documents.written_before(gone, 9), vault.documents.written_after(gone, 9)) == (
            [first],
            [third],
        )
