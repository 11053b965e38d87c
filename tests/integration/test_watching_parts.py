"""The parts of the watcher, over real folders and a real vault."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from wired import update_collection

from clawmem.adapters.files.disk import DiskFiles
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.adapters.system.clock import SystemClock
from clawmem.app.services.indexing.folders import Folder, Ownership
from clawmem.app.services.indexing.update import PassReport, Progress
from clawmem.app.services.indexing.watching import WatchEvent, WatchOptions, keep_watch
from clawmem.app.services.leases import WorkLease
from clawmem.ports.errors import VaultLocked
from clawmem.ports.files import PathChange, StopSignal


def put(root: Path, *paths: str, age_s: float = 60.0) -> None:
    for path in paths:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# {path}\n", "utf-8")
        then = file.stat().st_mtime - age_s
        os.utime(file, (then, then))


class TestWatchedFolders:
    """What the system tells, and what it is asked."""

    @pytest.mark.skipif(shutil.which("unshare") is None, reason="limits inotify in a namespace of its own")
    def test_more_folders_than_the_system_watches(self, tmp_path: Path) -> None:
        """They are looked through instead, which is told."""
        put(tmp_path, *(f"{number}/one.md" for number in range(10)))
        program = (
            "import sys, threading; from pathlib import Path\n"
            "from clawmem.adapters.files.watching import WatchedFolders\n"
            "watcher = WatchedFolders(); root = sys.argv[1]\n"
            "print(watcher.arm([root], lambda path: True), watcher.polling)\n"
            "Path(root, '3', 'two.md').write_text('two')\n"
            "print([one.path for one in watcher.wait(10.0, threading.Event())])\n"
        )
        limit = "echo 5 > /proc/sys/user/max_inotify_watches || exit 77"
        done = subprocess.run(
            ["unshare", "-Ur", "sh", "-c", f'{limit}; exec "$@"', "sh", sys.executable, "-c", program, tmp_path],
            check=False, capture_output=True, text=True,
        )  # fmt: skip
        if done.returncode in (1, 77) and "Traceback" not in done.stderr:
            pytest.skip("no namespace to be had here")
        assert done.stdout.splitlines()[0] == "11 True", done.stderr
        assert str(tmp_path / "3" / "two.md") in done.stdout


class TestOwnership:
    """Folders in one another."""

    FOLDERS = (
        Folder("outer", "/home/me"),
        Folder("logs", "/home/me/office", "log/*.txt"),
        Folder("office", "/home/me/office/", "docs/**"),
        Folder("hidden", "/home/me/.notes"),
    )
    OWNERSHIP = Ownership(FOLDERS)

    @pytest.mark.parametrize(
        ("path", "owner"),
        [
            ("/home/me/a.md", "outer"),
            ("/home/me/office/docs/a.md", "office"),
            ("/home/me/office/log/a.txt", "logs"),
            ("/home/me/office/log/a.md", "outer"),
            ("/home/me/workshop/a.md", "outer"),
            ("/home/me/.notes/a.md", "hidden"),
            ("/home/me/.git/a.md", None),
            ("/home/me/a.txt", None),
            ("/home/you/a.md", None),
        ],
    )
    def test_files(self, path: str, owner: str | None) -> None:
        """The innermost that wants it."""
        assert self.OWNERSHIP.owner(path) == owner


class Deaf:
    """A system that never tells of anything."""

    polling = False

    def arm(self, roots: Sequence[str], enter: Callable[[str], bool]) -> int:
        return len(roots)

    def wait(self, seconds: float, stop: StopSignal) -> Sequence[PathChange]:
        stop.wait(min(seconds, 0.05))
        return []

    def close(self) -> None:
        pass


class TestWatching:
    """The service over a real vault, with nobody who tells of changes."""

    def test_what_comes_after_passes(self, tmp_path: Path) -> None:
        """It is done once after the first, then after changes, and again as long as it did not go well."""
        asked = []

        def then(progress: Progress) -> list[str]:
            asked.append(1)
            if len(asked) == 1:
                raise VaultLocked("vault.sqlite")
            return ["the model is away"] if len(asked) == 2 else []

        put(tmp_path / "notes", "one.md")
        passes, stop = [], threading.Event()

        def count() -> None:
            passes.append(len(asked))
            if passes[-2:] == [3, 3]:  # one more than was needed
                stop.set()

        news = watch(tmp_path, lambda news: False, count, stop, then=then)
        assert passes == [0, 1, 2, 3, 3]
        told = [one.text for one in news if one.event == "problem"]
        assert told[0].startswith("vault.sqlite is being written")
        assert told[1] == "the model is away"

    def test_the_end_in_the_middle(self, tmp_path: Path) -> None:
        """The pass under way ends with the next file; what it committed is kept."""
        put(tmp_path / "notes", *(f"{number:03}.md" for number in range(200)))
        stop = threading.Event()

        def end(done: int, total: int) -> None:
            if done == 100:
                stop.set()

        news = watch(tmp_path, lambda news: False, stop=stop, step=end)

        assert [one.event for one in news] == ["ended"]
        with closing(open_vault(str(tmp_path / "vault.sqlite"))) as vault:
            assert 0 < len(vault.documents.sources("notes")) <= 100
            assert vault.leases.current("watch", now_ms=0) is None
        [told] = [one for one in watch(tmp_path, lambda news: news[-1].event == "pass") if one.report]
        assert told.report.added + told.report.unchanged == 200
        assert told.report.unchanged > 0


def watch(
    root: Path,
    done: Callable[[list[WatchEvent]], bool],
    before: Callable[[], object] = lambda: None,
    stop: threading.Event | None = None,
    *,
    then: Callable[[Progress], list[str]] = lambda progress: [],
    step: Progress = lambda done, total: None,
) -> list[WatchEvent]:
    """The news until *done*, of ``root/notes``; *before* each pass and after each *step* something else is done."""
    ending, news = stop or threading.Event(), list[WatchEvent]()

    def tell(one: WatchEvent) -> None:
        news.append(one)
        if done(news):
            ending.set()

    with closing(open_vault(str(root / "vault.sqlite"))) as vault:
        update = update_collection(vault, DiskFiles(), SystemClock(), lambda text: {})

        def passing(folder: Folder, *, progress: Progress) -> PassReport:
            before()

            def both(done: int, total: int) -> None:
                step(done, total)
                progress(done, total)

            return update(folder, progress=both)

        lane = WorkLease("watch", vault.leases, SystemClock(), "me", lambda holder: False)
        folders = [Folder("notes", str(root / "notes"))]
        timer = threading.Timer(20.0, ending.set)
        timer.start()
        options = WatchOptions(lambda: folders, tell, then, every_s=0.6)
        keep_watch(options, ending, Deaf(), passing, lane)
        timer.cancel()
    return news
