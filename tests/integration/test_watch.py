"""``clawmem watch``: real processes, a real vault, and files as people and programs change them."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_process import run_process
from server_process import serving
from watch_process import Home, Watcher, soon, watching

from clawmem.adapters.sqlite.vault import open_vault

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")

MOST_RSS_MB, MOST_DESCRIPTORS = 155, 1_000  # with the static model, which makes the vectors
STATUS = ("serve", "--status")
Measured = tuple[int, int, float]


def prune(folder: Path, count: int) -> None:
    """As many folders as that, in which nobody looks for notes."""
    for number in range(count // 2):
        (folder / "app" / "node_modules" / f"package-{number}" / "docs").mkdir(parents=True)


def measure(pid: int) -> Measured:
    process = Path(f"/proc/{pid}")
    told = [file.read_text() for file in (process / "fdinfo").iterdir()]
    watches = sum(one.count("inotify wd:") for one in told)
    pages = int((process / "statm").read_text().split()[1])
    return len(told), watches, pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def write_lock(vault: Path) -> sqlite3.Connection:
    """Somebody who writes until it is closed."""
    writer = sqlite3.connect(vault, isolation_level=None)
    writer.execute("begin immediate")
    return writer


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """Three collections, one of them inside of another; 500 folders that are none of theirs."""
    one = Home(tmp_path_factory.mktemp("watched"), notes="notes", inner="notes/inner", away="away")
    prune(one.home / "notes", 500)
    one.write("notes/first.md", "# First\n")
    one.write("notes/inner/deep.md", "# Deep\n")
    one.write("away/usb.md", "# On a stick\n")
    return one


@pytest.fixture(scope="module")
def watcher(home: Home) -> Iterator[Watcher]:
    """One for all tests that leave the collections as they were."""
    with watching(home, fresh=True) as one:  # its memory is measured
        yield one


class TestWhatHappensToFiles:
    """It is in the vault before long, and nothing else is."""

    def test_new_changed_moved_deleted(self, home: Home, watcher: Watcher) -> None:
        """In a folder that was not there when it began."""
        before = set(home.served("notes"))
        home.write("notes/plans/2026/plan.md", "# Plan\n\nBuy apples.\n")
        assert home.serves("notes", *before, "plans/2026/plan.md")

        home.write("notes/plans/2026/plan.md", "# Plan\n\nBuy pears.\n")
        assert soon(lambda: "pears" in home.served("notes")["plans/2026/plan.md"])

        (home.home / "notes" / "plans").rename(home.home / "notes" / "archive")
        assert home.serves("notes", *before, "archive/2026/plan.md")

        home.write("notes/archive/2026/later.md", "# Later\n")  # the folder that was moved is still watched
        assert home.serves("notes", *before, "archive/2026/plan.md", "archive/2026/later.md")

        shutil.rmtree(home.home / "notes" / "archive")
        assert home.serves("notes", *before)

    def test_what_nobody_reads(self, home: Home, watcher: Watcher) -> None:
        """Neither other files nor excluded folders cause a look."""
        since = len(watcher.news)
        home.write("notes/app/node_modules/package-1/README.md", "# No note\n")
        home.write("notes/.git/HEAD.md", "# No note\n")
        home.write("notes/build/out.md", "# No note\n")
        home.write("notes/picture.svg", "<svg/>")
        home.write("away/usb.md", "# On a stick, changed\n")

        assert soon(lambda: "changed" in home.served("away")["usb.md"])
        assert soon(lambda: bool(watcher.news[since:]))
        # What the test before removed may be said only now.
        texts = [news["text"] for news in watcher.news[since:] if ", 0 removed" in news["text"]]
        assert texts == ["away: 0 added, 1 updated, 0 removed, 0 unchanged"]

    def test_a_file_that_is_being_written(self, home: Home, watcher: Watcher) -> None:
        """Half of it is never served, while others are."""
        home.write("notes/long.md", "")
        seen = set()
        with (home.home / "notes" / "long.md").open("a", encoding="utf-8") as file:
            for number in range(12):
                file.write(f"Line {number}.\n")
                file.flush()
                if number == 2:
                    home.write("notes/short.md", "# Short\n")
                time.sleep(0.1)
                seen.add(home.served("notes").get("long.md"))
        assert seen == {None}
        assert soon(lambda: home.served("notes").get("long.md", "").count("Line") == 12)
        assert "short.md" in home.served("notes")


class TestTrouble:
    """It waits, says so, and loses nothing."""

    @pytest.mark.parametrize("seconds", [1.5, pytest.param(13.0, marks=pytest.mark.slow)])
    def test_somebody_writes_the_vault(self, home: Home, watcher: Watcher, seconds: float) -> None:
        """The file is taken in when that is over, however long it takes."""
        writer = write_lock(home.vault)
        home.write(f"notes/locked-{seconds}.md", "# Locked out\n")
        time.sleep(seconds)
        assert f"locked-{seconds}.md" not in home.served("notes")
        writer.close()

        assert soon(lambda: f"locked-{seconds}.md" in home.served("notes"), 20)

    def test_names_that_are_not_utf8(self, home: Home, watcher: Watcher) -> None:
        """A file and a folder with such a name are reported, and what is saved later is read, while they come and go."""
        before = set(home.served("notes"))
        file, folder = (home.home / "notes" / os.fsdecode(name) for name in (b"caf\xe9.md", b"b\xff"))
        file.write_text("# Coffee\n", "utf-8")
        assert soon(lambda: any("not UTF-8" in text for text in watcher.told("problem")))
        folder.mkdir()
        (folder / "inside.md").write_text("# Inside\n", "utf-8")
        home.write("notes/after.md", "# After\n")
        assert home.serves("notes", *before, "after.md")
        file.unlink()
        shutil.rmtree(folder)
        (home.home / "notes/after.md").unlink()
        assert home.serves("notes", *before)
        assert str(watcher.process.pid) in run_process("doctor", environ=home.environ, cwd=home.home).stdout

    def test_a_root_that_vanishes(self, home: Home, watcher: Watcher) -> None:
        """Its documents are kept, and it is watched again as soon as it is back."""
        since = len(watcher.news)
        (home.home / "away").rename(home.home / "taken out")
        assert soon(
            lambda: any(
                "away is not there" in text and "--name away" in text
                for text in watcher.told("problem", since)
            )
        )
        assert set(home.served("away")) == {"usb.md"}

        home.write("taken out/while.md", "# Written elsewhere\n")
        (home.home / "taken out").rename(home.home / "away")
        assert home.serves("away", "usb.md", "while.md")
        home.write("away/after.md", "# Written here\n")
        assert home.serves("away", "usb.md", "while.md", "after.md")


class TestTheProcess:
    """What it costs, and how it comes and goes."""

    def test_pruned_folders_cost_nothing(self, home: Home, watcher: Watcher) -> None:
        """Neither descriptors nor watches nor memory."""
        descriptors, watches, megabytes = measure(watcher.process.pid)

        assert descriptors < 50
        assert watches < 50
        assert megabytes <= MOST_RSS_MB
        assert not (home.vault.with_name("index.sqlite-wal")).stat().st_size > 64e6

    def test_the_next_one_takes_over(self, tmp_path: Path) -> None:
        """Of two one works; when that is killed the other one finds what happened meanwhile, and ends in order."""
        home = Home(tmp_path, notes="notes")
        home.write("notes/first.md", "# First\n")
        with watching(home) as first, watching(home, until="waiting") as second:
            home.write("notes/second.md", "# Second\n")
            assert home.serves("notes", "first.md", "second.md")
            assert second.told("pass") == []
            with watching(home, until="waiting") as third:
                assert third.end() == 0
                assert third.told("ended") == ["No longer waiting."]

            os.kill(first.process.pid, signal.SIGKILL)
            first.process.wait()
            home.write("notes/third.md", "# Third\n")
            assert home.serves("notes", "first.md", "second.md", "third.md")
            assert soon(lambda: bool(second.told("watching")))
            assert soon(lambda: home.embedded() == 3)

            assert second.end() == 0
            assert second.told("ended")
        with sqlite3.connect(home.vault) as vault:
            assert vault.execute("select 1 from leases where name = 'watch'").fetchone() is None

    @pytest.mark.slow
    def test_the_end_while_somebody_writes(self, tmp_path: Path) -> None:
        """It does not wait for him longer than it may."""
        home = Home(tmp_path, notes="notes")
        home.write("notes/first.md", "# First\n")
        with watching(home) as watcher:
            writer = write_lock(home.vault)
            home.write("notes/second.md", "# Second\n")
            time.sleep(1.5)  # by then it waits for the lock
            assert watcher.end() == 0
            writer.close()
        with watching(home):
            assert home.serves("notes", "first.md", "second.md")

    def test_a_server_watches_too(self, tmp_path: Path) -> None:
        """Unless it is told not to."""
        home = Home(tmp_path, notes="notes")
        home.write("notes/first.md", "# First\n")
        open_vault(str(home.vault)).close()
        with serving(home.environ, home.home) as server:
            home.write("notes/second.md", "# Second\n")
            assert home.serves("notes", "first.md", "second.md")
            assert "reads changed files" in run_process(*STATUS, environ=home.environ, cwd=home.home).stdout
            assert server.end() == 0
        with serving(home.environ, home.home, "--no-watch", "--port", "0"):
            home.write("notes/third.md", "# Third\n")
            time.sleep(1.0)
            assert "third.md" not in home.served("notes")
            assert "No process watches" in run_process(*STATUS, environ=home.environ, cwd=home.home).stdout
