"""The diary of failures in memory and in a vault; and that nobody waits for it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from clawmem.adapters.sqlite.vault import open_vault
from clawmem.contracts.telemetry import ModelFailuresContract, failure
from clawmem.ports.errors import VaultError, VaultLocked
from clawmem.ports.models import ModelFailures, ModelRole
from clawmem.ports.vault import Vault

LONGEST_WAIT_S = 5.0  # generous for a busy machine; the vault's own writers would wait ten


class TestSqliteModelFailures(ModelFailuresContract):
    @pytest.fixture
    def failures(self, vault: Vault) -> ModelFailures:
        return vault.model_failures


class TestSqliteMemoryModelFailures(ModelFailuresContract):
    """A vault that is no file has one connection only."""

    @pytest.fixture
    def failures(self) -> Iterator[ModelFailures]:
        vault = open_vault(":memory:")
        yield vault.model_failures
        vault.close()


def test_a_reader_may_write_it_down(vault: Vault, path: Path) -> None:
    """A vault that is open for reading only keeps what went wrong while it was asked, and leaves no log behind."""
    vault.close()
    reading = open_vault(str(path), read_only=True)
    reading.model_failures.record(failure())
    reading.close()

    again = open_vault(str(path), read_only=True)
    assert again.model_failures.latest() == {ModelRole.RERANKER: failure()}
    again.close()
    assert not Path(f"{path}-wal").exists() or Path(f"{path}-wal").stat().st_size == 0


def test_nobody_waits_for_it(vault: Vault, path: Path) -> None:
    """While somebody else is writing the failure is not kept, which is told at once."""
    other = open_vault(str(path))

    with other.transactions.writing():
        began = time.monotonic()
        with pytest.raises(VaultLocked):
            vault.model_failures.record(failure())

    assert time.monotonic() - began < LONGEST_WAIT_S
    other.close()


def test_it_makes_no_vault(vault: Vault, path: Path) -> None:
    """A vault that was deleted meanwhile is not made again for the sake of its diary."""
    for part in path.parent.iterdir():
        part.unlink()

    with pytest.raises(VaultError):
        vault.model_failures.record(failure())
    assert not path.exists()


def test_it_outlives_a_transaction_that_is_taken_back(vault: Vault, path: Path) -> None:
    """What went wrong is kept although what it went wrong with is not."""
    vault.model_failures.record(failure())

    with pytest.raises(RuntimeError), vault.transactions.writing():
        raise RuntimeError("taken back")

    assert vault.model_failures.latest()
