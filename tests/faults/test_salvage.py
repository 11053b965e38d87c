"""The salvage of a vault that is large, or on a disk that cannot read every sector."""

from __future__ import annotations

import errno
import tracemalloc
from contextlib import closing
from pathlib import Path

import pytest

from clawmem.adapters.sqlite.connections import PAGE_SIZE
from clawmem.adapters.sqlite.rescue.pages import PageFile
from clawmem.adapters.sqlite.rescue.salvage import salvage
from clawmem.adapters.sqlite.vault import open_vault

ROWS, WIDTH = 2_000, 5_000  # ten megabytes


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """A vault that is larger than what a salvage may hold of it."""
    file = tmp_path / "vault.sqlite"
    with closing(open_vault(str(file))) as vault, vault.transactions.writing():
        rows = ((number.to_bytes(32, "big"), bytes(WIDTH)) for number in range(ROWS))
        vault.storage._db.write("insert into spaces (id, fingerprint, state) values (1, 'm', 'serving')")
        vault.storage._db.write_many(
            "insert into space_vectors (space, text_hash, vector) values (1, ?, ?)", rows
        )
    return file


def test_memory(large: Path, tmp_path: Path) -> None:
    """It holds a small part of the vault at a time."""
    tracemalloc.start()
    try:
        salvaged = salvage(str(large), str(tmp_path / "new.sqlite"))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert salvaged.kept["space_vectors"] == ROWS
    assert most < large.stat().st_size / 2  # of which the modules that it imports are most


def test_a_bad_sector(large: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that the disk cannot read is lost, and no other."""
    read, bad = PageFile._read, large.stat().st_size // 2 // PAGE_SIZE * PAGE_SIZE

    def read_or_fail(file: PageFile, at: int, length: int) -> bytes:
        if at == bad:
            raise OSError(errno.EIO, "Input/output error")
        return read(file, at, length)

    monkeypatch.setattr(PageFile, "_read", read_or_fail)

    salvaged = salvage(str(large), str(tmp_path / "new.sqlite"))

    lost = salvaged.lost["space_vectors"]
    assert lost
    assert 0 < lost <= PAGE_SIZE // WIDTH + 1
    assert salvaged.kept["space_vectors"] == ROWS - lost
