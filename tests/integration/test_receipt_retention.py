"""How long receipts are kept, and what happens when none can be written."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest
from command_line import Invoke, ask_json, configure, kept_receipts

from clawmem.adapters.memory.clock import START_MS, ManualClock
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.app.services.retrieval.answer import Answer
from clawmem.app.services.retrieval.receipts import Recalls, Retention
from clawmem.app.services.retrieval.work import Trace
from clawmem.contracts.telemetry import recall
from clawmem.domain.documents.times import iso_utc
from clawmem.ports.vault import Vault

DAY_MS = 86_400_000


@pytest.mark.parametrize("line", ["telemetry: off", "receipt_days: 0"])
def test_switched_off(many: Invoke, home: Path, vault_file: Path, line: str) -> None:
    """An owner who wants no receipts gets none, is told so, and those of before go."""
    many("search", "redis")
    assert len(kept_receipts(vault_file)) == 1
    configure(home, line)

    assert "receipt: none was kept" in many("search", "redis", "--explain").stdout
    assert ask_json(many, "search", "redis", "--explain")["receipt"] is None
    assert kept_receipts(vault_file) == []


def test_a_busy_vault(many: Invoke, vault_file: Path) -> None:
    """While somebody writes the answer stands, explained, without a receipt and with a gap in the report."""
    writer = apsw.Connection(str(vault_file))
    writer.execute("begin immediate")
    plain, explained = many("search", "redis"), many("search", "redis", "--explain")
    writer.execute("rollback")
    writer.close()

    assert (plain.exit_code, plain.stderr, explained.exit_code, explained.stderr) == (0, "", 0, "")
    assert "receipt: none was kept" in explained.stdout
    assert kept_receipts(vault_file) == [] and ask_json(many, "report")["recalls"] == 0


def ask(recalls: Recalls) -> int | None:
    return recalls.record(Answer("redis", (), Trace()), "search", 1.0, limit=10, receipt=lambda: b"receipt")


def days_old(vault: Vault, *days: int) -> None:
    for day in days:
        vault.telemetry.record(recall(iso_utc(START_MS - day * DAY_MS)), b"old")


def test_old_things_go() -> None:
    """Receipts go before their recalls; what is as old as it may get stays until the day is over."""
    vault, clock = open_vault(":memory:"), ManualClock()
    recalls = Recalls(
        vault.telemetry, clock, vault.receipts, retention=Retention(recall_days=4, receipt_days=2)
    )
    days_old(vault, 6, 5, 4, 3, 2, 1)

    ask(recalls)

    assert vault.telemetry.count() == 4 + 1
    assert vault.receipts.counts().stored == 2 + 1
    clock.advance(DAY_MS)
    ask(recalls)
    assert vault.telemetry.count() == 3 + 2
    assert vault.receipts.counts().stored == 1 + 2
