"""A vault in a file that the command line names has its own collections."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Invoke, ask_json, read_json, write_notes

from clawmem.app.settings.model import load_settings


@pytest.fixture
def side(remembered: Invoke, tmp_path: Path) -> Path:
    """A second vault with the collection ``boats``, beside the usual one with ``notes``."""
    write_notes(tmp_path / "boats", {"keel.md": "# Keel\n\nThe keel is blue.\n"})
    vault = tmp_path / "side.sqlite"
    done = remembered("--vault", vault, "bootstrap", tmp_path / "boats", "--skip-embed")
    assert done.exit_code == 0, done.output
    return vault


def test_each_vault_has_its_own(remembered: Invoke, home: Path, side: Path) -> None:
    """What is read, listed, described and removed in one changes nothing of the other."""
    config = (home / ".config/clawmem/config.yaml").read_bytes()

    def names(*vault: object) -> list[str]:
        return [
            one["name"] for one in ask_json(remembered, *vault, "--json", "collection", "list")["collections"]
        ]

    assert (names(), names("--vault", side)) == (["notes"], ["boats"])
    assert [
        one["collection"] for one in read_json(remembered("--vault", side, "--json", "update"))["collections"]
    ] == ["boats"]
    assert "Nothing found" in remembered("--vault", side, "search", "redis").stdout
    assert "Nothing found" in remembered("search", "keel").stdout
    assert (home / ".config/clawmem/config.yaml").read_bytes() == config
    assert remembered("--vault", side, "collection", "remove", "boats", "--yes").exit_code == 0
    assert (names(), names("--vault", side)) == (["notes"], [])


def test_every_process_reads_them(remembered: Invoke, side: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server or a hook knows the file by a variable; other settings of the user hold for it as well."""
    monkeypatch.setenv("INDEX_PATH", str(side))
    settings = load_settings()

    assert [*settings.collections] == ["boats"]
    assert settings.config_file == side.with_name("side.sqlite.yaml")
    assert "boats: 0 added" in remembered("update").stdout


def test_a_copy_without_a_config_file_has_none(remembered: Invoke, home: Path) -> None:
    """The folders of the usual vault are not read into it, and a search writes no file beside it."""
    remembered("backup", home / "copy.sqlite")

    assert remembered("--vault", home / "copy.sqlite", "search", "redis").exit_code == 0
    assert not (home / "copy.sqlite.yaml").exists()
    assert read_json(remembered("--vault", home / "copy.sqlite", "--json", "update"))["collections"] == []
    assert "redis" in remembered("--vault", home / "copy.sqlite", "search", "redis").stdout.lower()
