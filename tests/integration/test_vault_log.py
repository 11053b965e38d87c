"""The log beside a vault: a server that runs for long does not let it stay as long as it ever was."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

import apsw
import pytest

from clawmem.adapters.sqlite.jotter import log_is_empty
from clawmem.adapters.sqlite.log import put_log_away
from clawmem.adapters.sqlite.vault import SqliteVault
from clawmem.app.serve import drainer
from clawmem.app.serve.inside import Inside
from clawmem.contracts.samples import save

SECONDS = 20.0


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[SqliteVault]:
    """One that somebody has open for writing, and has just written to."""
    vault = SqliteVault(str(tmp_path / "vault.sqlite"))
    save(vault, "a.md", "Lighthouse.")
    yield vault
    vault.close()


def test_it_is_put_away_while_the_vault_is_open(vault: SqliteVault) -> None:
    """What stood in it is in the file, and what is written next stands in it again."""
    assert not log_is_empty(vault.location)

    put_log_away(vault.location)

    assert log_is_empty(vault.location)
    assert vault.documents.at("notes", "a.md")
    save(vault, "b.md", "Harbour.")
    assert not log_is_empty(vault.location)
    assert len(vault.documents.latest()) == 2


def test_nobody_is_hurried(vault: SqliteVault) -> None:
    """Who reads goes on with what he began; the log waits for the next time. Nothing is made where nothing is."""
    reader = apsw.Connection(vault.location, flags=apsw.SQLITE_OPEN_READONLY)
    reader.execute("begin")
    assert list(reader.execute("select count(*) from documents")) == [(1,)]
    save(vault, "b.md", "Harbour.")

    put_log_away(vault.location)

    assert not log_is_empty(vault.location)
    assert list(reader.execute("select count(*) from documents")) == [(1,)]
    reader.close()
    put_log_away(vault.location)
    assert log_is_empty(vault.location)
    put_log_away(f"{vault.location}-none")
    assert not Path(f"{vault.location}-none").exists()


def test_a_server_does_it_now_and_then(vault: SqliteVault, monkeypatch: pytest.MonkeyPatch) -> None:
    """By itself, whoever wrote."""
    monkeypatch.setattr(drainer, "LOOKS_AGAIN_S", 0.05)
    home = str(Path(vault.location).parent)
    with Inside(Path(vault.location), {"HOME": home, "PATH": os.environ["PATH"]}).at_work():
        for name in ("b.md", "c.md"):
            save(vault, name, f"Harbour {name}.")
            end = monotonic() + SECONDS
            while not log_is_empty(vault.location):
                assert monotonic() < end
                sleep(0.02)
