"""Telemetry, answers and failures of models in memory and in a vault; nobody waits for them, nothing lies about."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread

import pytest

from clawmem.adapters.sqlite.logs import answer_key
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.contracts.telemetry import (
    MODEL,
    MONDAY,
    TUESDAY,
    ModelAnswersContract,
    ModelFailuresContract,
    TelemetryContract,
    failure,
    recall,
    times,
)
from clawmem.ports.errors import VaultError, VaultLocked
from clawmem.ports.models import ModelAnswers, ModelFailures
from clawmem.ports.telemetry import Telemetry
from clawmem.ports.vault import Vault

LONGEST_WAIT_S = 5.0  # generous for a busy machine; the vault's own writers would wait ten


class InSqlite:
    @pytest.fixture
    def telemetry(self, vault: Vault) -> Telemetry:
        return vault.telemetry

    @pytest.fixture
    def answers(self, vault: Vault) -> ModelAnswers:
        return vault.answers

    @pytest.fixture
    def failures(self, vault: Vault) -> ModelFailures:
        return vault.model_failures


class InSqliteReading(InSqlite):
    """A vault that is open for reading only keeps records all the same."""

    @pytest.fixture
    def vault(self, path: Path, vault: Vault) -> Iterator[Vault]:
        vault.close()
        reading = open_vault(str(path), read_only=True)
        yield reading
        reading.close()


class InSqliteMemory(InSqlite):
    """A vault that is no file has one connection only."""

    @pytest.fixture
    def vault(self) -> Iterator[Vault]:
        vault = open_vault(":memory:")
        yield vault
        vault.close()


class TestTelemetry(InSqlite, TelemetryContract): ...


class TestTelemetryInMemory(InSqliteMemory, TelemetryContract): ...


class TestAnswers(InSqlite, ModelAnswersContract): ...


class TestAnswersWhileReading(InSqliteReading, ModelAnswersContract): ...


class TestAnswersInMemory(InSqliteMemory, ModelAnswersContract): ...


class TestFailures(InSqlite, ModelFailuresContract): ...


class TestFailuresInMemory(InSqliteMemory, ModelFailuresContract): ...


# What is written beside a question: how, and what is there of it.
RECORDS: dict[str, tuple[Callable[[Vault], object], Callable[[Vault], object]]] = {
    "recall": (lambda vault: vault.telemetry.record(recall(MONDAY, 1)), lambda vault: times(vault.telemetry)),
    "answer": (
        lambda vault: vault.answers.keep(MODEL, "expansion", {"hive": "bees"}, at=MONDAY),
        lambda vault: vault.answers.get(MODEL, "expansion", "hive"),
    ),
    "failure": (
        lambda vault: vault.model_failures.record(failure()),
        lambda vault: vault.model_failures.latest(),
    ),
}
every_record = pytest.mark.parametrize(("write", "read"), RECORDS.values(), ids=RECORDS)


def files_beside(path: Path) -> dict[str, int]:
    return {file.name: file.stat().st_size for file in path.parent.iterdir() if file != path}


@every_record
def test_a_vault_opened_for_reading_records(
    path: Path, vault: Vault, write: Callable[[Vault], object], read: Callable[[Vault], object]
) -> None:
    """It is in the vault's own file, not in a log beside it; another process reads it."""
    vault.close()
    reading = open_vault(str(path), read_only=True)
    write(reading)
    reading.close()

    assert files_beside(path).get("vault.sqlite-wal", 0) == 0
    again = open_vault(str(path), read_only=True)
    assert read(again)
    again.close()


@every_record
def test_a_busy_vault_is_not_waited_for(
    vault: Vault, write: Callable[[Vault], object], read: Callable[[Vault], object]
) -> None:
    """While another connection writes, recording fails at once, and what is being written is not disturbed."""
    with vault.transactions.writing():
        vault.leases.acquire("index", "a", now_ms=0, ttl_ms=1)
        began = time.monotonic()
        with pytest.raises(VaultLocked):
            write(vault)
        waited = time.monotonic() - began

    assert waited < LONGEST_WAIT_S
    assert not read(vault)
    assert vault.leases.acquire("index", "b", now_ms=0, ttl_ms=1) is None


@every_record
def test_a_transaction_takes_nothing_of_it_back(
    vault: Vault, write: Callable[[Vault], object], read: Callable[[Vault], object]
) -> None:
    """What was recorded before a transaction that fails is still there."""
    write(vault)
    with pytest.raises(ValueError), vault.transactions.writing():
        raise ValueError

    assert read(vault)


@every_record
def test_a_vault_that_went_away_is_not_made_again(
    path: Path, vault: Vault, write: Callable[[Vault], object], read: Callable[[Vault], object]
) -> None:
    """Recording into a deleted file fails, and leaves no empty one in its place."""
    vault.close()
    path.unlink()
    with pytest.raises(VaultError):
        write(vault)

    assert not path.exists()


def test_the_file_alone_is_the_vault(path: Path, vault: Vault) -> None:
    """After a question nothing but the vault's own file holds anything: a copy of it put back is whole."""
    vault.telemetry.record(recall(MONDAY, 1))
    vault.close()
    backup = path.read_bytes()
    for _ in range(3):
        reading = open_vault(str(path), read_only=True)
        reading.telemetry.record(recall(TUESDAY, *range(1, 11)))
        reading.close()

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


def test_threads_record_side_by_side(vault: Vault) -> None:
    """Four threads of one process write recalls of their own, each whole."""
    written: list[int] = []

    def ask(thread: int) -> None:
        for _ in range(25):
            try:
                written.append(vault.telemetry.record(recall(MONDAY, *[thread] * 5)))
            except VaultLocked:
                continue  # a gap in the diary, which is allowed

    threads = [Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    recalls = [*vault.telemetry.recalls()]
    assert sorted(written) == [each.id for each in recalls]
    assert all(len({hit.document_id for hit in each.hits}) == 1 and len(each.hits) == 5 for each in recalls)


def test_no_question_is_stored(path: Path, vault: Vault) -> None:
    """The file holds the answer of a model and not a word of the question or the name of the model."""
    vault.answers.keep("secretmodel", "rerank", {"whereisthehoneypot": "0.123456"}, at=MONDAY)
    vault.close()

    stored = path.read_bytes()
    assert b"0.123456" in stored
    assert b"honeypot" not in stored
    assert b"secretmodel" not in stored


def test_the_key_is_the_same_everywhere() -> None:
    """SHA-256 of the three as an ASCII JSON array, so that other programs find the same answers."""
    assert answer_key("m", "p", "wo ist 蜂蜜?").hex() == (
        "b8ce3e92cbae03c0afa1793186c0dda715fdf9440a4d34f8e6350c4a1593212a"
    )
