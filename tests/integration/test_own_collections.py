"""A vault in a file that the command line names has its own collections."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Invoke, ask_json, assert_refused, configure, read_json, write_file, write_notes

from clawmem.app.settings.model import load_settings


@pytest.fixture
def side(remembered: Invoke, tmp_path: Path) -> Path:
    """A second vault with the collection ``boats``, beside the usual one with ``notes``."""
    write_notes(tmp_path / "boats", {"keel.md": "# Keel\n\nThe keel is blue.\n"})
    vault = tmp_path / "side.sqlite"
    assert remembered("--vault", vault, "bootstrap", tmp_path / "boats", "--skip-embed").exit_code == 0
    return vault


def test_each_vault_has_its_own(remembered: Invoke, home: Path, side: Path) -> None:
    """What is read, listed, described and removed in one changes nothing of the other."""
    config = (home / ".config/clawmem/config.yaml").read_bytes()

    def names(*vault: object) -> list[str]:
        listed = ask_json(remembered, *vault, "--json", "collection", "list")["collections"]
        return [one["name"] for one in listed]

    assert (names(), names("--vault", side)) == (["notes"], ["boats"])
    assert remembered("--vault", side, "update").stdout.startswith("boats: 0 added")
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


def test_the_usual_vault_has_the_config_file_of_its_user(remembered: Invoke, home: Path) -> None:
    """A file beside it changes nothing, and the doctor names it; no name of a vault makes one."""
    usual = home / ".cache/clawmem/index.sqlite"
    write_file(Path(f"{usual}.yaml"), "collections: {}\n")
    assert "notes: 0 added" in remembered("update").stdout
    assert f"{usual}.yaml has no effect" in remembered("doctor").stdout
    configure(home, f"vaults: {{work: {usual}}}")

    assert_refused(remembered("vault sync work", home / "notes"), "vaults.work is the usual vault", 4)


@pytest.mark.parametrize("fault", ["rankin: calibrated", "ranking: best", "backend: x", "a: {"])
def test_wrong_settings_of_a_file(remembered: Invoke, home: Path, side: Path, fault: str) -> None:
    """The doctor and the status of the server name them, and no server is stopped for want of settings."""
    for vault, config in ((), home / ".config/clawmem/config.yaml"), (("--vault", side), f"{side}.yaml"):
        write_file(Path(config), f"{fault}\n")
        doctor = ("doctor", 4 if "backend" in fault else 1)
        for command, code in doctor, ("serve --status", 1), ("serve --stop", 1), ("list", 4):
            done = remembered(*vault, *command.split())
            assert (done.exit_code, str(config) in done.output or "stop" in command) == (code, True), (
                done.output
            )
        Path(config).unlink()
    assert "hooks of the last day" not in remembered("doctor").stdout


def test_a_copy_without_a_config_file_has_none(remembered: Invoke, home: Path) -> None:
    """The folders of the usual vault are not read into it, and a search writes no file beside it."""
    remembered("backup", home / "copy.sqlite")

    assert remembered("--vault", home / "copy.sqlite", "search", "redis").exit_code == 0
    assert not (home / "copy.sqlite.yaml").exists()
    assert read_json(remembered("--vault", home / "copy.sqlite", "--json", "update"))["collections"] == []
    assert "redis" in remembered("--vault", home / "copy.sqlite", "search", "redis").stdout.lower()
