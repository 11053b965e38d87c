"""Backups of a vault that is in use."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from command_line import Invoke, ask_json

from clawmem.adapters.sqlite.database import open_writer
from clawmem.app.settings.config_file import set_value

REDIS = "notes/decisions/2026-02-11-redis.md"


def test_a_backup_of_a_vault_that_is_written(remembered: Invoke, vault_file: Path, home: Path) -> None:
    """A writer in the middle of its transaction neither blocks the backup nor gets into it."""
    target = home / "copy.sqlite"
    remembered("pin", REDIS)
    remembered("diary", "write", "Painted the keel.")
    assert "in no backup: 1" in remembered("status").stdout
    with closing(open_writer(str(vault_file))) as writer:
        writer.execute("begin immediate; delete from documents")
        made = remembered("backup", target)
        writer.execute("rollback")

    assert made.exit_code == 0, made.output
    assert "documents: 4" in made.output
    assert "in no backup" not in remembered("--vault", target, "status").stdout
    assert (target.stat().st_mode & 0o777, [*home.glob("*copy.sqlite?*")]) == (0o600, [])
    found = ask_json(remembered, "--vault", target, "--json", "search", "where do login sessions live")
    assert found["results"][0]["file"] == REDIS
    assert ask_json(remembered, "--vault", target, "--json", "archive", "--status")["pinned"] == 1


@pytest.mark.parametrize(
    "command", [("backup",), ("export",), ("export", "--format", "jsonl")], ids=["backup", "bundle", "jsonl"]
)
def test_force_replaces_an_earlier_copy_and_nothing_else(
    remembered: Invoke, home: Path, command: Sequence[str]
) -> None:
    """Other files stay, also ZIP files and databases; the message names the remedies."""
    target = home / "copy"
    foreign = {
        "text": b"something else",
        "zip": b"PK\x03\x04" + bytes(100),
        "db": b"SQLite format 3" + bytes(100),
    }

    assert "Name a file in it" in remembered(*command, home).stderr
    for content in foreign.values():
        target.write_bytes(content)
        assert "--force" in remembered(*command, target).stderr
        refused = remembered(*command, target, "--force")
        assert (refused.exit_code, target.read_bytes()) == (2, content)
        assert "delete it yourself" in refused.stderr
    target.unlink()
    assert remembered(*command, target).exit_code == 0
    first = target.stat()
    assert remembered(*command, target, "--force").exit_code == 0
    assert target.stat().st_ino != first.st_ino


def test_no_file_of_clawmem_is_replaced(remembered: Invoke, vault_file: Path, home: Path) -> None:
    """Neither the vault, also under another name, nor its settings, nor another vault, registered or in use."""
    config = Path(ask_json(remembered, "--json", "vault", "path")["config"])
    (other := home / "other").symlink_to(vault_file)
    (config.parent / ".env").touch()
    alone, used = home / "alone.sqlite", home / "used.sqlite"
    assert remembered("backup", alone).exit_code == remembered("backup", used).exit_code == 0
    (home / "used.sqlite-wal").touch()
    set_value(config, ("vaults", "alone"), str(alone))
    assert remembered("openclaw", "index", "--workspace", home).exit_code == 0
    agents = home / ".openclaw/clawmem"
    remembered("backup", home / "single.sqlite")
    (settings := home / "single.sqlite.yaml").write_text("collections: {}\n", "utf-8")
    places = [vault_file, other, config, config.parent / ".env", alone, used]
    places += [settings, *agents.glob("main.*")]
    before = [place.read_bytes() for place in places]

    for name in places:
        for command in ("backup", "export"):
            assert remembered(command, name, "--force").exit_code == 2, name
    assert [place.read_bytes() for place in places] == before
    for name in (home.parent, vault_file.parent, agents):
        assert remembered("export", name, "--format", "markdown", "--force").exit_code == 2, name


def test_a_damaged_vault_gives_no_backup(remembered: Invoke, vault_file: Path, home: Path) -> None:
    """What fails the check does not replace an earlier backup."""
    target = home / "copy.sqlite"
    assert remembered("backup", target).exit_code == 0
    before = target.read_bytes()
    with closing(apsw.Connection(str(vault_file))) as vault:
        vault.execute("pragma foreign_keys = off; delete from content")

    refused = remembered("backup", target, "--force")

    assert refused.exit_code == 5
    assert "doctor --repair" in refused.output
    assert (target.read_bytes(), [*home.glob(".copy*")]) == (before, [])


@pytest.mark.parametrize("command", ["backup", "export"])
def test_a_note_is_never_replaced(remembered: Invoke, notes: Path, command: str) -> None:
    """Not even by force: its text would be lost."""
    note = notes / REDIS.removeprefix("notes/")
    before = note.read_bytes()

    refused = remembered(command, note, "--force")

    assert (refused.exit_code, note.read_bytes()) == (2, before)
    assert "has the name of a note" in refused.output
    refused = remembered(command, notes / "new.md")
    assert (refused.exit_code, (notes / "new.md").exists()) == (2, False)
