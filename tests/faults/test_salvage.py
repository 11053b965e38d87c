"""The repair of a vault that is larger than the memory."""

from __future__ import annotations

import tracemalloc
from contextlib import closing
from pathlib import Path

from clawmem.adapters.sqlite.repair import repair_vault
from clawmem.adapters.sqlite.vault import open_vault

ROWS, WIDTH = 2_000, 5_000  # ten megabytes


def test_memory(tmp_path: Path) -> None:
    """It holds a small part of the vault at a time."""
    large = tmp_path / "vault.sqlite"
    with closing(open_vault(str(large))) as vault, vault.transactions.writing():
        rows = ((number, str(number) * WIDTH) for number in range(1_000, 1_000 + ROWS))
        vault.storage.db.write_many(
            "insert into acts (document_id, act, by, at, why) values (?, 'pin', '', '', ?)", rows
        )
    tracemalloc.start()
    try:
        salvaged = repair_vault(str(large), str(tmp_path / "draft"), str(tmp_path / "old"))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert salvaged.kept["acts"] == ROWS
    assert most < large.stat().st_size / 2  # of which the modules that it imports are most
