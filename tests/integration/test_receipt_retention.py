"""What happens when receipts are not wanted, or cannot be written."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest
from command_line import Invoke, ask_json, configure, kept_receipts


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
