"""Index passes in short transactions: other processes write between them, and an interrupted pass loses nothing."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest
from command_process import start_process
from fault_worlds import World
from wired import update_collection

from clawmem.adapters.files.disk import DiskFiles
from clawmem.adapters.files.front_matter import parse_front_matter
from clawmem.adapters.sqlite.database import Database
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.app.services.indexing.update import BATCH_NOTES, PassReport
from clawmem.ports.records import InactiveReason, Scan


class TestTwoPassesAtOnce:
    """One process changes the vault while a pass of another one is under way."""

    @pytest.mark.parametrize("moment", ["scan", "read"])
    def test_a_file_that_the_other_takes_in(
        self, world: World, worlds: Callable[..., World], moment: str
    ) -> None:
        """A pass whose listing is older does not remove it."""
        world.write("a.md", "Zebra.")
        world.update()
        world.write("a.md", "Zebra and yak.", hours_ago=1)
        other = worlds("vault")

        def meanwhile() -> None:
            world.write("late.md", "Latecomer.")
            assert other.update().added == 1

        assert disturbed(world, moment, meanwhile).removed == 0
        assert (world.update().unchanged, world.found("latecomer")) == (2, ["late.md"])
        assert world.at("a.md").revision_count == 2

    def test_a_note_that_is_forgotten_meanwhile(self, world: World, worlds: Callable[..., World]) -> None:
        """It does not return, whether the pass read an edit of it or sees it for the first time."""
        world.write("a.md", "Zebra.")
        world.update()
        world.write("a.md", "Zebra and yak.", hours_ago=1)
        world.write("b.md", "Secret zebra.")
        other = worlds("vault")

        def meanwhile() -> None:
            other.update()
            for path in ("a.md", "b.md"):
                other.withdraw(path, InactiveReason.FORGOTTEN)

        report = disturbed(world, "read", meanwhile)

        assert (report.added, report.updated) == (0, 0)
        assert world.found("zebra") == []
        assert world.at("b.md").inactive is InactiveReason.FORGOTTEN

    def test_a_pin_during_the_pass(self, world: World, worlds: Callable[..., World]) -> None:
        """It is written at once, and kept."""
        world.write("a.md", "Zebra.")
        world.update()
        world.write("a.md", "Zebra and yak.", hours_ago=1)
        other = worlds("vault")

        report = disturbed(world, "read", lambda: other.vault.documents.pin(other.at("a.md").id, True))

        assert report.updated == 1
        assert world.at("a.md").pinned


class TestShortTransactions:
    """Nobody waits for a pass."""

    def test_files_are_read_outside_of_transactions(self, world: World, worlds: Callable[..., World]) -> None:
        """While each of them is listed and read, another process can write."""
        for number in range(5):
            world.write(f"{number}.md", f"Note {number}.")
        world.update()
        (world.root / "0.md").unlink()
        other = worlds("vault")
        written = []

        def write() -> None:
            other.vault.documents.snooze(other.at("1.md").id, None)  # it raises if it has to wait
            written.append(1)

        other.vault.storage.db._main.set_busy_timeout(50)
        for hours_ago, moment in enumerate(("scan", "read")):
            for number in range(1, 5):
                world.write(f"{number}.md", f"Note {number}, edited for {moment}.", hours_ago=hours_ago)
            disturbed(world, moment, write, times=99)
        assert len(written) == 1 + 4  # a listing and four files

    def test_a_question_in_the_middle_of_a_pass(self, world: World) -> None:
        """It is answered from whole notes; an interrupted pass keeps its commits, the next one continues."""
        total = 3 * BATCH_NOTES
        for number in range(total):
            world.write(f"{number:03}.md", f"Quagga {number}.")
        reader = open_vault(str(world.vault_file), read_only=True)
        seen = []

        def look(done: int, total: int) -> None:
            seen.append(len(reader.documents.latest()))
            if done == 2 * BATCH_NOTES + 5:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            update_watched(world, look)
        reader.close()
        assert set(seen) == {0, BATCH_NOTES, 2 * BATCH_NOTES}
        assert world.torn() == []

        report = world.update()

        assert (report.added, report.unchanged) == (total - 2 * BATCH_NOTES, 2 * BATCH_NOTES)
        assert world.verify() == []

    @pytest.mark.parametrize("statement", ["begin immediate", "commit"])
    def test_an_interrupt_at_an_end_of_a_transaction(
        self, world: World, monkeypatch: pytest.MonkeyPatch, statement: str
    ) -> None:
        """Ctrl-C that arrives while a transaction begins or commits: the next pass adds the rest."""
        total = 3 * BATCH_NOTES
        for number in range(total):
            world.write(f"{number:03}.md", f"Quagga {number}.")
        write = Database.write

        def interrupted(self: Database, sql: str, bindings: Any = ()) -> Any:
            done = write(self, sql, bindings)
            if sql == statement and self.value("select 1 from documents"):
                raise KeyboardInterrupt
            return done

        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(Database, "write", interrupted)
            world.update()

        kept = len(world.vault.documents.latest())
        assert kept > 0
        assert world.update().added == total - kept > 0


class TestInterruptedCommands:
    """``clawmem update``, as a person stops it."""

    def test_ctrl_c(self, world: World, environ: dict[str, str]) -> None:
        """It says that work was kept, exits 130 without a traceback, and the same command goes on."""
        process = interrupted_run(world, environ)
        process.send_signal(signal.SIGINT)
        said, errors = process.communicate(timeout=60)

        assert process.returncode == 130
        assert "Traceback" not in said + errors
        kept = len(world.open().documents.latest())
        assert 0 < kept < MANY
        assert "run the same command again" in errors
        report = world.update()
        assert (report.added, report.unchanged) == (MANY - kept, kept)
        assert world.torn() == []

    def test_a_kill(self, world: World, environ: dict[str, str]) -> None:
        """What was committed is whole and stays."""
        process = interrupted_run(world, environ)
        process.kill()
        process.communicate(timeout=60)

        kept = len(world.open().documents.latest())
        assert 0 < kept < MANY
        assert world.torn() == []
        assert world.update().added == MANY - kept
        assert world.verify() == []

    def test_a_pin_while_a_large_folder_is_read(self, world: World, environ: dict[str, str]) -> None:
        """`pin` and `diary write` of other processes are done while it is read."""
        world.write("000.md", "# The first\n")
        world.update()
        world.vault.close()
        process = interrupted_run(world, environ)
        other = world.open()
        document = world.at("000.md").id
        waits = []
        for number in range(10):
            began = monotonic()
            other.documents.pin(document, number % 2 == 0)
            waits.append(monotonic() - began)
        assert process.poll() is None
        process.kill()
        process.communicate(timeout=60)
        assert max(waits) < 5.0  # a writer that waits in vain gives up after ten seconds


MANY = 600


def interrupted_run(world: World, environ: dict[str, str]) -> subprocess.Popen[str]:
    """``update`` over many notes, as soon as it has committed some of them."""
    text = "\n\n".join(f"## Part {part}\n\n" + "Boats need paint. " * 10 for part in range(3))
    for number in range(MANY - world.root.joinpath("000.md").exists()):
        (world.root / f"{number + 1:04}.md").write_text(f"# Note {number}\n\n{text}\n", "utf-8")
    config = Path(environ["HOME"]) / ".config/clawmem/config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text(f"collections:\n  notes:\n    path: {world.root}\n", "utf-8")
    before = len(world.open().documents.latest())
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = start_process("update", environ=environ, **pipes)
    until = monotonic() + 60
    while len(world.vault.documents.places()) == before:
        assert process.poll() is None
        assert monotonic() < until
        sleep(0.02)
    world.vault.close()
    return process


class Disturbed(DiskFiles):
    """Files of which something happens after each listing, or after each reading."""

    def __init__(self, moment: str, happening: Callable[[], object], times: int) -> None:
        super().__init__()
        self._moment = moment
        self._happening = happening
        self._left = times

    def scan(self, *args: Any, **asked: Any) -> Scan:
        found = super().scan(*args, **asked)
        self._happen("scan")
        return found

    def read(self, root: str, path: str) -> bytes:
        data = super().read(root, path)
        self._happen("read")
        return data

    def _happen(self, moment: str) -> None:
        if moment == self._moment and self._left:
            self._left -= 1
            self._happening()


def disturbed(world: World, moment: str, happening: Callable[[], object], *, times: int = 1) -> PassReport:
    """The report of a pass during which something else happens."""
    world.files = Disturbed(moment, happening, times)
    try:
        return world.update()
    finally:
        world.files = DiskFiles()


def update_watched(world: World, look: Callable[[int, int], None]) -> None:
    update_collection(world.vault, world.files, world.clock, parse_front_matter)(
        world.folder(), progress=look
    )
