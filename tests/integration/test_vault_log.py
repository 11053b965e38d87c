"""The log beside a vault: a server that runs for long does not let it stay as long as it ever was."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from waiting import eventually

from clawmem.adapters.sqlite.database import Database
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.adapters.sqlite.vault_file import checkpoint_log, log_is_empty
from clawmem.app.serve import background
from clawmem.app.serve.server import ServerRuntime
from clawmem.contracts.samples import save
from clawmem.ports.vault import Vault

NOTE = "insert into meta (name, value) values (?, ?)"


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    """One that somebody has open for writing, and has just written to."""
    vault = open_vault(str(tmp_path / "vault.sqlite"))
    save(vault, "a.md", "Lighthouse.")
    yield vault
    vault.close()


def test_it_is_put_away_while_the_vault_is_open(vault: Vault) -> None:
    """What stood in it is in the file, and what is written next stands in it again."""
    assert not log_is_empty(vault.storage.info().location)

    checkpoint_log(vault.storage.info().location)

    assert log_is_empty(vault.storage.info().location)
    assert vault.documents.at("notes", "a.md")
    save(vault, "b.md", "Harbour.")
    assert not log_is_empty(vault.storage.info().location)
    assert len(vault.documents.latest()) == 2


def test_a_server_does_it_now_and_then(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    """By itself, whoever wrote."""
    monkeypatch.setattr(background, "LOOKS_AGAIN_S", 0.05)
    home = str(Path(vault.storage.info().location).parent)
    with ServerRuntime(
        Path(vault.storage.info().location), {"HOME": home, "PATH": os.environ["PATH"]}
    ).at_work():
        for name in ("b.md", "c.md"):
            save(vault, name, f"Harbour {name}.")
            eventually(lambda: log_is_empty(vault.storage.info().location))


class TestBestEffort:
    """The writer for records of questions."""

    @pytest.fixture
    def db(self, vault: Vault) -> Iterator[Database]:
        with closing(Database(vault.storage.info().location, read_only=True)) as db:
            yield db

    def test_an_error_is_rolled_back(self, db: Database) -> None:
        """The next caller can write."""
        with suppress(ValueError), db.best_effort() as writer, writer.atomic():
            writer.write(NOTE, ("row half", ""))
            raise ValueError

        with db.best_effort() as writer:
            writer.write(NOTE, ("row whole", ""))
        assert db.rows("select name from meta where name like 'row %'") == [("row whole",)]
