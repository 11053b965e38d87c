from __future__ import annotations

from clawmem.contracts.base import VaultContract
from clawmem.contracts.telemetry import MONDAY, TUESDAY, WEDNESDAY, recall
from clawmem.ports.telemetry import ReceiptCounts, StoredReceipt
from clawmem.ports.vault import Vault

ANY_BYTES = bytes(range(256))


def receipt_ids(vault: Vault) -> list[int]:
    """Return the ids of all receipts, newest first."""
    return [receipt.id for receipt in vault.receipts.latest(100)]


class ReceiptContract(VaultContract):
    """Explanations of past answers. Supply ``vault``: an EMPTY ``Vault``."""

    def test_a_receipt_comes_back(self, vault: Vault) -> None:
        """A receipt has the id and the time of its recall, and its content byte for byte."""
        number = vault.telemetry.record(recall(MONDAY, 1), ANY_BYTES)

        assert vault.receipts.get(number) == StoredReceipt(number, MONDAY, ANY_BYTES)
        assert vault.receipts.get(number + 1) is None

    def test_a_recall_without_one(self, vault: Vault) -> None:
        """A recall stored without a receipt has none; an empty receipt is stored."""
        without = vault.telemetry.record(recall(MONDAY, 1))
        empty = vault.telemetry.record(recall(MONDAY, 1), b"")

        assert vault.receipts.get(without) is None
        assert vault.receipts.get(empty) == StoredReceipt(empty, MONDAY, b"")
        assert vault.receipts.counts() == ReceiptCounts(1, 0)

    def test_some_are_forgotten(self, vault: Vault) -> None:
        """The named receipts are deleted and their recalls remain; an unknown id changes nothing."""
        first, second = (vault.telemetry.record(recall(day, 1), b"x") for day in (MONDAY, TUESDAY))

        assert vault.receipts.forget([first, second + 1]) == 1
        assert vault.receipts.forget([]) == vault.receipts.forget([first]) == 0
        assert receipt_ids(vault) == [second]
        assert vault.telemetry.count() == 2

    def test_trim_a_little(self, vault: Vault) -> None:
        """With `at_most` only that many receipts are deleted, oldest first."""
        second = vault.telemetry.record(recall(TUESDAY), b"x")
        vault.telemetry.record(recall(MONDAY), b"x")

        assert vault.receipts.trim(WEDNESDAY, at_most=1) == 1
        assert receipt_ids(vault) == [second]

    def test_a_receipt_goes_with_its_recall(self, vault: Vault) -> None:
        """A receipt is deleted with its recall; a later recall that reuses the id has no receipt."""
        vault.telemetry.record(recall(MONDAY, 1), b"x")

        assert vault.telemetry.trim(WEDNESDAY) == 1
        again = vault.telemetry.record(recall(WEDNESDAY, 1))

        assert vault.receipts.counts() == ReceiptCounts(0, 0)
        assert vault.receipts.get(again) is None
