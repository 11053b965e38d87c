from __future__ import annotations

from collections.abc import Iterable

import pytest

from clawmem.contracts.base import Capability, VaultContract, needs
from clawmem.contracts.samples import any_of, entry, filler, found_by, hits_of
from clawmem.ports.records import Grain, Hit, Term
from clawmem.ports.vault import Vault


class LexicalUpkeepContract(VaultContract):
    """Adding, replacing and removing entries at every granularity. Supply ``vault``: an EMPTY ``Vault``."""

    def test_put_replaces(self, vault: Vault) -> None:
        """Adding a key again at the same granularity replaces its words and title, and it counts once."""
        vault.lexical.put([entry(1, "spring", title="old")])

        vault.lexical.put([entry(1, "autumn", title="new")])

        assert [found_by(vault, word) for word in ("spring", "old", "autumn", "new")] == [[], [], [1], [1]]
        assert vault.lexical.count(Grain.PASSAGE) == 1

    def test_wordless_entry_counts(self, vault: Vault) -> None:
        """An entry without any word is counted, matches nothing, and does not affect other entries."""
        vault.lexical.put([entry(1, ""), entry(2, "---")])
        assert found_by(vault, "budget") == []

        vault.lexical.put([entry(3, "budget")])

        assert (found_by(vault, "budget"), vault.lexical.count(Grain.PASSAGE)) == ([3], 3)

    def test_remove_at_every_grain(self, vault: Vault) -> None:
        """Removing a document deletes all its entries, of every fragment and granularity, and no others."""
        for grain in Grain:
            vault.lexical.put([entry(n, "budget", seq=seq, grain=grain) for n in (1, 11) for seq in (0, 1)])

        vault.lexical.remove(1)

        for grain in Grain:
            assert found_by(vault, "budget", grain=grain) == [11, 11], grain
            assert vault.lexical.count(grain) == 2

    def test_grains_are_searched_apart(self, vault: Vault) -> None:
        """One key holds a different text at each granularity; a search uses one granularity."""
        texts = dict(zip(Grain, ("spring", "summer", "autumn", "winter"), strict=True))
        vault.lexical.put([entry(1, text, grain=grain) for grain, text in texts.items()])

        for grain, text in texts.items():
            assert [other for other in texts.values() if found_by(vault, other, grain=grain)] == [text]
            assert vault.lexical.count(grain) == 1

    def test_grains_have_their_own_statistics(self, vault: Vault) -> None:
        """A word that becomes common at one granularity keeps its scores at the others."""
        vault.lexical.put([entry(1, "budget plain"), *filler()])
        before = hits_of(vault, any_of("budget"))

        vault.lexical.put([entry(n, "budget " * 20, grain=Grain.LINE) for n in range(60)])

        assert_alike(hits_of(vault, any_of("budget")), before)

    @needs(Capability.STEMMING)
    def test_holding_counts_entries(self, vault: Vault) -> None:
        """
        The count includes entries with any inflection of the term in title or text, once each, at one granularity.
        """
        vault.lexical.put([entry(1, "budget budget", title="budgets"), entry(2, "budgets"), *filler()])
        vault.lexical.put([entry(1, "budget", grain=Grain.LINE)])

        held = [vault.lexical.holding(Term(word), Grain.PASSAGE) for word in ("budget", "nothing", "spring")]

        assert held == [2, len(filler()), 0]
        assert vault.lexical.holding(Term("BUDGET"), Grain.LINE) == 1
        assert vault.lexical.holding(Term("—"), Grain.PASSAGE) == 0

    def test_clear_empties_and_can_be_filled_again(self, vault: Vault) -> None:
        """Clearing empties every granularity, statistics included; entries added again rank as before."""
        entries = [entry(1, "budget plain"), entry(2, "budget budget"), *filler()]
        vault.lexical.put([*entries, *(entry(n, "budget", grain=Grain.LINE) for n in range(9))])
        before = hits_of(vault, any_of("budget"))

        vault.lexical.clear()

        assert [vault.lexical.count(grain) for grain in Grain] == [0, 0, 0, 0]
        assert found_by(vault, "budget") == []
        vault.lexical.put(entries)
        assert_alike(hits_of(vault, any_of("budget")), before)


def assert_alike(hits: Iterable[Hit], expected: Iterable[Hit]) -> None:
    """Assert the same keys in the same order with the same scores, except for rounding."""
    hits, expected = list(hits), list(expected)
    assert [hit.key for hit in hits] == [hit.key for hit in expected]
    assert [hit.score for hit in hits] == pytest.approx([hit.score for hit in expected])
