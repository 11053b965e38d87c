"""What models said, in memory and in a vault; and that keeping it disturbs nobody and tells nobody's questions."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from clawmem.adapters.sqlite.telemetry import answer_key
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.contracts.telemetry import MODEL, MONDAY, ModelAnswersContract
from clawmem.ports.errors import VaultError, VaultLocked
from clawmem.ports.models import ModelAnswers
from clawmem.ports.vault import Vault

LONGEST_WAIT_S = 5.0  # generous for a busy machine; the vault's own writers would wait ten


@pytest.fixture
def reading(path: Path, vault: Vault) -> Iterator[Vault]:
    vault.close()
    reading = open_vault(str(path), read_only=True)
    yield reading
    reading.close()


class TestSqlite(ModelAnswersContract):
    @pytest.fixture
    def answers(self, vault: Vault) -> ModelAnswers:
        return vault.answers


class TestSqliteReading(ModelAnswersContract):
    """A vault that is open for reading only keeps answers all the same."""

    @pytest.fixture
    def answers(self, reading: Vault) -> ModelAnswers:
        return reading.answers


class TestSqliteMemory(ModelAnswersContract):
    """A vault that is no file has one connection only."""

    @pytest.fixture
    def answers(self) -> Iterator[ModelAnswers]:
        vault = open_vault(":memory:")
        yield vault.answers
        vault.close()


def test_answers_outlive_the_process(path: Path, reading: Vault) -> None:
    """What was kept while reading is in the vault's own file, not in a log beside it, when the vault is closed."""
    reading.answers.keep(MODEL, "expansion", {"hive": "bees"}, at=MONDAY)
    reading.close()

    assert [file for file in path.parent.glob("*-wal") if file.stat().st_size] == []
    again = open_vault(str(path), read_only=True)
    assert again.answers.get(MODEL, "expansion", "hive") == "bees"
    again.close()


def test_no_question_is_stored(path: Path, vault: Vault) -> None:
    """The file holds the answer and not a word of the question or the name of its model."""
    vault.answers.keep("secretmodel", "rerank", {"whereisthehoneypot": "0.123456"}, at=MONDAY)
    vault.close()

    stored = path.read_bytes()
    assert b"0.123456" in stored
    assert b"honeypot" not in stored
    assert b"secretmodel" not in stored


def test_a_busy_vault_is_not_waited_for(vault: Vault) -> None:
    """While another connection writes, keeping fails at once, and what is being written is not disturbed."""
    with vault.transactions.writing():
        vault.leases.acquire("index", "a", now_ms=0, ttl_ms=1)
        began = time.monotonic()
        with pytest.raises(VaultLocked):
            vault.answers.keep(MODEL, "expansion", {"hive": "bees"}, at=MONDAY)
        waited = time.monotonic() - began

    assert waited < LONGEST_WAIT_S
    assert vault.answers.counts() == {}


def test_a_vault_that_went_away_is_not_made_again(path: Path, vault: Vault) -> None:
    """Keeping in a deleted file fails, and leaves no empty one in its place."""
    vault.close()
    path.unlink()
    with pytest.raises(VaultError):
        vault.answers.keep(MODEL, "intent", {"hive": "WHAT"}, at=MONDAY)

    assert not path.exists()


def test_the_key_is_the_same_everywhere() -> None:
    """SHA-256 of the three as an ASCII JSON array, so that other programs find the same answers."""
    assert answer_key("m", "p", "wo ist 蜂蜜?").hex() == (
        "b8ce3e92cbae03c0afa1793186c0dda715fdf9440a4d34f8e6350c4a1593212a"
    )
