"""The record of forgotten notes, when the vault or the record is lost or damaged."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

import pytest
from command_line import Invoke
from damaged_home import FORGOTTEN_FILE, SECRET_WORD, Home
from mined_talks import BOAT, write_export

from clawmem.adapters.sqlite.vault import SqliteStorage


@pytest.fixture
def home(tmp_path: Path, invoke: Invoke) -> Home:
    return Home(tmp_path, invoke)


class TestForgetting:
    """What was forgotten outlives the vault."""

    def test_a_copy_of_the_text_in_a_deleted_vault(self, home: Home) -> None:
        """The text stays forgotten as well, wherever it is written again; the record does not tell it."""
        text = f"# Plans\n\nThe {SECRET_WORD} orchard is sold to the neighbour in the spring of next year.\n"
        folder = home.vault.parent / "notes" / "people"
        (folder / "plans.md").write_text(text, "utf-8")
        home.done("update")
        home.done("forget", "--yes", "notes/people/plans.md")
        (folder / "again.md").write_text(text, "utf-8")
        home.vault.unlink()
        home.done("vault", "init")
        home.done("update")

        assert "again.md" not in home.done("list", "--limit", "500").stdout
        assert SECRET_WORD not in Path(f"{home.vault}.forgotten").read_text("utf-8")

    def test_an_older_copy(self, home: Home, tmp_path: Path) -> None:
        """A copy from before the forgetting, put back, forgets at once."""
        copy = home.vault.read_bytes()
        home.done("forget", "--yes", "notes/people/team.md")
        home.put(copy)

        assert "notes/people/team.md" not in home.done("list", "--limit", "500").stdout
        assert home.done("doctor", "--verify").stdout == "Files, records and indexes agree.\n"

    def test_a_lost_record(self, home: Home) -> None:
        """A vault that knows more than the file writes it down with the next update."""
        record = Path(f"{home.vault}.forgotten")
        record.unlink()
        verified = home.invoke("doctor", "--verify")
        assert (verified.exit_code, "Run: clawmem update" in verified.stdout) == (7, True)

        home.done("update")
        home.done("doctor", "--verify")
        home.vault.unlink()
        home.done("vault", "init")
        home.done("update")

        assert record.stat().st_mode & 0o777 == 0o600
        assert FORGOTTEN_FILE not in home.done("list", "--limit", "500").stdout

    def test_a_torn_record(self, home: Home) -> None:
        """A line that a kill cut, and lines of anything else, spoil no other line."""
        record = Path(f"{home.vault}.forgotten")
        record.write_bytes(
            b'\xff\xfe\n[1]\n{"collection": 1}\n' + record.read_bytes() + b'{"collection": "no'
        )
        home.done("forget", "--yes", "notes/people/team.md")
        home.vault.unlink()
        home.done("vault", "init")
        home.done("update")

        listed = home.done("list", "--limit", "500").stdout
        assert FORGOTTEN_FILE not in listed
        assert "people/team.md" not in listed

    def test_a_cut_record(self, home: Home) -> None:
        """The doctor finds it, and the advised command completes the file from the vault."""
        record = Path(f"{home.vault}.forgotten")
        for bytes_lost in (2, 5, record.stat().st_size):
            os.truncate(record, record.stat().st_size - bytes_lost)

            examined = home.invoke("doctor")
            assert (examined.exit_code, home.advice()) == (1, "update")
            assert f"{record} lacks some of the forgotten notes" in examined.stdout
            assert home.done("update").stderr == ""

            assert "FAIL" not in home.invoke("doctor").stdout
            assert record.stat().st_mode & 0o777 == 0o600
        copy = shutil.copy(
            home.vault, home.vault.with_name("copy.sqlite")
        )  # with no config file, so no collections
        assert "lacks some" not in home.invoke("--vault", copy, "update").stderr
        home.vault.unlink()
        home.done("update")
        assert FORGOTTEN_FILE not in home.done("list", "--limit", "500").stdout

    @pytest.mark.parametrize("finish", ["again", "file gone", "update", "source"])
    def test_interrupted_before_its_bytes_are_erased(
        self, home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, finish: str
    ) -> None:
        """The same command again, or the next update, finishes it; no receipt is left, and no proof denies what it cannot know."""
        text, forget = b"wait a whole day below ten degrees", ("forget", "notes/people/varnish.md")
        note = home.vault.parent / "notes/people/varnish.md"
        if finish == "source":
            home.done("mine", str(write_export(tmp_path / "export", "chatgpt", BOAT)), "--source", "s2")
            forget = ("mine", "--forget", "s2")
        else:
            note.write_text("# Varnish\n\nWith this varnish wait a whole day below ten degrees.\n", "utf-8")
            home.done("update")
        home.done("query", "varnish below ten degrees")
        with monkeypatch.context() as patches:
            patches.setattr(
                SqliteStorage, "scrub", lambda storage: signal.default_int_handler(signal.SIGINT, None)
            )
            interrupted = home.invoke(*forget, "--yes")
        assert (interrupted.exit_code, text in home.vault.read_bytes()) == (130, True)

        if finish == "file gone":
            note.unlink()
        again = home.done(
            *([finish] if finish == "update" else [*forget, "--yes", *["--prove"][: finish != "source"]])
        )
        assert text not in home.vault.read_bytes()
        if finish != "update":
            assert "already forgotten" in again.stdout
            assert ("bytes: nothing" in again.stdout) is (finish == "again")
            assert ("none were looked for in the bytes" in again.output) is (finish != "again")
            assert "receipts: nothing" in again.stdout
