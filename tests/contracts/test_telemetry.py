"""Telemetry in memory and in a vault; and that a question neither waits for it nor leaves anything lying about."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

from clawmem.adapters.sqlite.vault import open_vault
from clawmem.contracts.telemetry import (
    MONDAY,
    TUESDAY,
    TelemetryReadContract,
    TelemetryRecordContract,
    recall,
    times,
)
from clawmem.ports.errors import VaultError, VaultLocked
from clawmem.ports.telemetry import Telemetry
from clawmem.ports.vault import Vault

LONGEST_WAIT_S = 5.0  # generous for a busy machine; the vault's own writers would wait ten


class InSqlite:
    @pytest.fixture
    def telemetry(self, vault: Vault) -> Telemetry:
        return vault.telemetry


class InSqliteMemory:
    """A vault that is no file has one connection only."""

    @pytest.fixture
    def telemetry(self) -> Iterator[Telemetry]:
        vault = open_vault(":memory:")
        yield vault.telemetry
        vault.close()


class TestSqlite(InSqlite, TelemetryRecordContract, TelemetryReadContract): ...


class TestSqliteMemory(InSqliteMemory, TelemetryRecordContract, TelemetryReadContract): ...


def files_beside(path: Path) -> dict[str, int]:
    return {file.name: file.stat().st_size for file in path.parent.iterdir() if file != path}


def test_a_vault_opened_for_reading_records(path: Path, vault: Vault) -> None:
    """A question opens the vault for reading, and is written down all the same; another process reads it."""
    reading = open_vault(str(path), read_only=True)
    reading.telemetry.record(recall(MONDAY, 1, 2))
    reading.close()

    assert times(vault.telemetry) == [MONDAY]


def test_the_file_alone_is_the_vault(path: Path, vault: Vault) -> None:
    """After a question nothing but the vault's own file holds anything: a copy of it put back is whole."""
    vault.telemetry.record(recall(MONDAY, 1))
    vault.close()
    backup = path.read_bytes()
    for _ in range(3):
        reading = open_vault(str(path), read_only=True)
        reading.telemetry.record(recall(TUESDAY, *range(1, 11)))
        reading.close()

    assert files_beside(path).get("vault.sqlite-wal", 0) == 0
    path.write_bytes(backup)
    restored = open_vault(str(path))
    assert times(restored.telemetry) == [MONDAY]
    assert restored.storage.check() == []
    restored.close()


def test_somebody_elses_log_is_left_alone(path: Path, vault: Vault) -> None:
    """What a writer has not yet moved into the file is not moved by a question: it could be much."""
    vault.leases.acquire("index", "a", now_ms=0, ttl_ms=1)
    before = files_beside(path)["vault.sqlite-wal"]
    reading = open_vault(str(path), read_only=True)
    reading.telemetry.record(recall(MONDAY, 1))
    reading.close()

    assert files_beside(path)["vault.sqlite-wal"] > before > 0


def test_a_busy_vault_is_not_waited_for(path: Path, vault: Vault) -> None:
    """While another connection writes, recording fails at once, and what is being written is not disturbed."""
    with vault.transactions.writing():
        vault.leases.acquire("index", "a", now_ms=0, ttl_ms=1)
        began = time.monotonic()
        with pytest.raises(VaultLocked):
            vault.telemetry.record(recall(MONDAY, 1))
        waited = time.monotonic() - began

    assert waited < LONGEST_WAIT_S
    assert times(vault.telemetry) == []
    assert vault.leases.acquire("index", "b", now_ms=0, ttl_ms=1) is None


def test_a_transaction_takes_nothing_of_it_back(vault: Vault) -> None:
    """What was recorded before a transaction that fails is still there."""
    vault.telemetry.record(recall(MONDAY, 1))
    with pytest.raises(ValueError), vault.transactions.writing():
        raise ValueError

    assert times(vault.telemetry) == [MONDAY]


def test_a_vault_that_went_away_is_not_made_again(path: Path, vault: Vault) -> None:
    """Recording into a deleted file fails, and leaves no empty one in its place."""
    vault.close()
    path.unlink()
    with pytest.raises(VaultError):
        vault.telemetry.record(recall(MONDAY, 1))

    assert not path.exists()


def test_threads_record_side_by_side(vault: Vault) -> None:
    """Four threads of one process write recalls of their own, each whole."""
    kept: list[int] = []

    def ask(thread: int) -> None:
        for _ in range(25):
            try:
                kept.append(vault.telemetry.record(recall(MONDAY, *[thread] * 5)))
            except VaultLocked:
                continue  # a gap in the diary, which is allowed

    threads = [Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    found = [*vault.telemetry.recalls()]
    assert sorted(kept) == [one.id for one in found]
    assert all(len({hit.document_id for hit in one.hits}) == 1 and len(one.hits) == 5 for one in found)
