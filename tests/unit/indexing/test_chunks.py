"""Short write transactions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from clawmem.adapters.sqlite.vault import SqliteVault
from clawmem.app.services.indexing.publish import apply_in_chunks
from clawmem.contracts.samples import save
from clawmem.ports.vault import DelegatingVault


class Counted(DelegatingVault):
    """A vault that counts its transactions."""

    committed = 0

    @contextmanager
    def writing(self) -> Iterator[None]:
        with super().writing():
            yield
        self.committed += 1


@pytest.fixture
def vault() -> Counted:
    return Counted(SqliteVault(":memory:"))


def saving(vault: Counted) -> Callable[[int], int]:
    return lambda number: save(vault, f"{number}.md")


@pytest.mark.parametrize(("chunk_s", "transactions"), [(0.0, 5), (60.0, 1)])
def test_a_transaction_ends_when_its_time_is_over(vault: Counted, chunk_s: float, transactions: int) -> None:
    """It holds one item at least, however little time there is."""
    assert len(set(apply_in_chunks(vault, range(5), saving(vault), chunk_s=chunk_s))) == 5
    assert vault.committed == transactions


def test_nothing_to_do(vault: Counted) -> None:
    """No transaction is begun."""
    assert list(apply_in_chunks(vault, [], saving(vault))) == []
    assert vault.committed == 0


def test_results_are_committed(vault: Counted) -> None:
    """A result is given when its transaction is over; of a transaction that fails nothing is left."""

    def apply(number: int) -> int:
        made = save(vault, f"{number}.md")
        if number == 2:
            raise ZeroDivisionError
        return made

    seen = []
    with pytest.raises(ZeroDivisionError):
        for _ in apply_in_chunks(vault, range(4), apply, chunk_s=0.0):
            seen.append(vault.committed)

    assert seen == [1, 2]
    assert [one.path for one in vault.documents.latest()] == ["0.md", "1.md"]
