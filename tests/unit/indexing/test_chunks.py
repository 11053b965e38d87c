"""Short write transactions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from clawmem.adapters.sqlite.vault import open_vault
from clawmem.app.services.indexing.publish import apply_in_chunks
from clawmem.contracts.samples import save
from clawmem.ports.vault import Vault


class CountedTransactions:
    """Transactions of a vault, counted."""

    committed = 0

    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    @contextmanager
    def writing(self) -> Iterator[None]:
        with self._vault.transactions.writing():
            yield
        self.committed += 1


@pytest.fixture
def vault() -> Vault:
    return open_vault(":memory:")


@pytest.fixture
def transactions(vault: Vault) -> CountedTransactions:
    return CountedTransactions(vault)


def saving(vault: Vault) -> Callable[[int], int]:
    return lambda number: save(vault, f"{number}.md")


@pytest.mark.parametrize(("chunk_s", "expected"), [(0.0, 5), (60.0, 1)])
def test_a_transaction_ends_when_its_time_is_over(
    vault: Vault, transactions: CountedTransactions, chunk_s: float, expected: int
) -> None:
    """It holds one item at least, however little time there is."""
    assert len(set(apply_in_chunks(transactions, range(5), saving(vault), chunk_s=chunk_s))) == 5
    assert transactions.committed == expected


def test_nothing_to_do(vault: Vault, transactions: CountedTransactions) -> None:
    """No transaction is begun."""
    assert list(apply_in_chunks(transactions, [], saving(vault))) == []
    assert transactions.committed == 0


def test_results_are_committed(vault: Vault, transactions: CountedTransactions) -> None:
    """A result is given when its transaction is over; of a transaction that fails nothing is left."""

    def apply(number: int) -> int:
        made = save(vault, f"{number}.md")
        if number == 2:
            raise ZeroDivisionError
        return made

    seen = []
    with pytest.raises(ZeroDivisionError):
        for _ in apply_in_chunks(transactions, range(4), apply, chunk_s=0.0):
            seen.append(transactions.committed)

    assert seen == [1, 2]
    assert [one.path for one in vault.documents.latest()] == ["0.md", "1.md"]
