from __future__ import annotations

from clawmem.contracts.base import VaultContract
from clawmem.contracts.telemetry import MONDAY, TUESDAY, WEDNESDAY, recall
from clawmem.ports.receipts import ReceiptCounts, StoredReceipt
from clawmem.ports.vault import Vault

ANY_BYTES = bytes(range(256))


def kept(vault: Vault) -> list[int]:
    """The ids of all receipts, newest first."""
    return [one.id for one in vault.receipts.latest(100)]


class ReceiptContract(VaultContract):
    """What is kept of how answers came about. Supply ``vault``: an EMPTY ``Vault``."""

    def test_nothing_yet(self, vault: Vault) -> None:
        """
        Before the first receipt there is nothing to find, to count and to forget.

        If this fails: look at how an empty table is summed up.
        """
        assert vault.receipts.get(1) is None
        assert vault.receipts.latest(10) == []
        assert vault.receipts.counts() == ReceiptCounts(0, 0)
        assert vault.receipts.trim(WEDNESDAY) == 0

    def test_a_receipt_comes_back(self, vault: Vault) -> None:
        """
        A receipt has the id and the time of its recall, and every byte as it was given.

        If this fails: the content went through text, or the ids of two tables differ.
        """
        number = vault.telemetry.record(recall(MONDAY, 1), ANY_BYTES)

        assert vault.receipts.get(number) == StoredReceipt(number, MONDAY, ANY_BYTES)
        assert vault.receipts.get(number + 1) is None

    def test_a_recall_without_one(self, vault: Vault) -> None:
        """
        A recall that came without a receipt has none; an empty receipt is one.

        If this fails: the content is tested for truth instead of for None.
        """
        without = vault.telemetry.record(recall(MONDAY, 1))
        empty = vault.telemetry.record(recall(MONDAY, 1), b"")

        assert vault.receipts.get(without) is None
        assert vault.receipts.get(empty) == StoredReceipt(empty, MONDAY, b"")
        assert vault.receipts.counts() == ReceiptCounts(1, 0)

    def test_newest_first(self, vault: Vault) -> None:
        """
        The latest come by time whatever order they were written in, within one instant by id, up to a limit.

        If this fails: they are ordered by id alone, or a limit below 1 means all.
        """
        days = (TUESDAY, MONDAY, WEDNESDAY, TUESDAY)
        first, second, third, fourth = (vault.telemetry.record(recall(day), b"x") for day in days)

        assert kept(vault) == [third, fourth, first, second]
        assert [one.id for one in vault.receipts.latest(2)] == [third, fourth]
        assert vault.receipts.latest(0) == vault.receipts.latest(-1) == []

    def test_counts(self, vault: Vault) -> None:
        """
        Receipts are counted, and the bytes of their contents.

        If this fails: characters are counted, or pages of the file.
        """
        for size in (0, 10, 300):
            vault.telemetry.record(recall(MONDAY), b"\xff" * size)

        assert vault.receipts.counts() == ReceiptCounts(3, 310)

    def test_some_are_forgotten(self, vault: Vault) -> None:
        """
        Of the ids that are named the receipts go and the recalls stay; an unknown id changes nothing.

        If this fails: the recall goes along, or everything does.
        """
        one, two = (vault.telemetry.record(recall(day, 1), b"x") for day in (MONDAY, TUESDAY))

        assert vault.receipts.forget([one, two + 1]) == 1
        assert vault.receipts.forget([]) == vault.receipts.forget([one]) == 0
        assert kept(vault) == [two]
        assert vault.telemetry.count() == 2

    def test_trim_leaves_recalls(self, vault: Vault) -> None:
        """
        Trimming forgets receipts of earlier than the given time and keeps every recall.

        If this fails: the boundary goes too, or the recall goes along.
        """
        for day in (MONDAY, TUESDAY, WEDNESDAY):
            vault.telemetry.record(recall(day, 1), b"x")

        assert vault.receipts.trim(TUESDAY) == 1
        assert [one.asked_at for one in vault.receipts.latest(10)] == [WEDNESDAY, TUESDAY]
        assert vault.telemetry.count() == 3

    def test_trim_a_little(self, vault: Vault) -> None:
        """
        With a bound the oldest go first, so many and no more.

        If this fails: the bound is ignored, or takes whichever rows come first.
        """
        second = vault.telemetry.record(recall(TUESDAY), b"x")
        vault.telemetry.record(recall(MONDAY), b"x")

        assert vault.receipts.trim(WEDNESDAY, at_most=1) == 1
        assert kept(vault) == [second]

    def test_a_receipt_goes_with_its_recall(self, vault: Vault) -> None:
        """
        When a recall is forgotten its receipt is; the next recall without one does not find it again.

        If this fails: receipts stay behind, and an id that is given again finds them.
        """
        vault.telemetry.record(recall(MONDAY, 1), b"x")

        assert vault.telemetry.trim(WEDNESDAY) == 1
        again = vault.telemetry.record(recall(WEDNESDAY, 1))

        assert vault.receipts.counts() == ReceiptCounts(0, 0)
        assert vault.receipts.get(again) is None
