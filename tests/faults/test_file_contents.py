"""Texts and front matter that are broken, odd or huge."""

from __future__ import annotations

from pathlib import Path

import pytest
from fault_worlds import World
from programs import run_program

from clawmem.app.services.indexing import source


class TestContent:
    @pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n\0\0", b"caf\xe9\x07"])
    def test_no_text(self, world: World, data: bytes) -> None:
        """Such a file is named with the byte that is wrong; every other file is indexed."""
        world.write("bad.md", data)
        world.write("good.md", "Sound words.")

        report = world.update()

        assert report.added == 1
        assert len(report.problems) == 1
        assert report.problems[0].startswith("bad.md was skipped: it is not UTF-8 text (byte ")
        assert world.found("sound") == ["good.md"]
        assert world.verify() == []

    def test_a_note_that_stops_being_text_keeps_its_last_text(self, world: World) -> None:
        """What the vault has of a file outlives an edit that cannot be read."""
        world.write("a.md", "Sound words.")
        world.update()
        world.write("a.md", b"caf\xe9\0", hours_ago=1)

        report = world.update()

        assert (report.updated, report.removed, len(report.problems)) == (0, 0, 1)
        assert world.found("sound") == ["a.md"]
        assert world.body("a.md") == "Sound words."

    @pytest.mark.parametrize(
        ("megabytes", "most_mb"), [(4, 120), pytest.param(20, 500, marks=pytest.mark.slow)]
    )
    def test_one_line_of_many_megabytes(
        self, tmp_path: Path, environ: dict[str, str], megabytes: int, most_mb: int
    ) -> None:
        """It is indexed to its last word, in memory of a few times its size."""
        (tmp_path / "notes").mkdir()
        row = "many words in a row " * 50_000
        (tmp_path / "notes/long.md").write_text(row * megabytes + "xylophone", "utf-8")

        environ = {**environ, "PYTHONPATH": str(Path(__file__).parents[1])}
        added, found, peak_mb = run_program(ONE_LINE, tmp_path, env=environ).stdout.split()

        assert (added, found) == ("1", "long.md")
        assert float(peak_mb) < most_mb

    def test_more_fragments_than_a_vault_can_number(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Such a file is refused by name instead of running over into the numbers of the next document."""
        monkeypatch.setattr(source, "MAX_FRAGMENTS", 12)
        fitting, too_many = "word\n\n" * 10, "word\n\n" * 11
        world.write("a.md", fitting)
        world.write("b.md", too_many)

        report = world.update()

        assert report.added == 1
        assert report.problems == ["b.md was skipped: it falls into 13 parts, 12 are the most."]


class TestFrontMatter:
    def test_malformed_values(self, world: World) -> None:
        """Each is left out alone, and the complaint names the line of the first in the file."""
        world.write(
            "a.md", '---\ntitle: Ferry\nx: [unclosed\ny: b: c\nz: "\\x"\ntags: [boat]\n---\nThe text below.\n'
        )

        (problem,) = world.update().problems

        assert problem.startswith("notes/a.md: front matter left out: ") and "line 4" in problem
        assert (world.at("a.md").title, world.at("a.md").tags) == ("Ferry", ("boat",))
        assert world.body("a.md") == "The text below.\n"


ONE_LINE = """
import resource, sys
from pathlib import Path
from clawmem.adapters.files.disk import DiskFiles
from clawmem.adapters.files.front_matter import parse_yaml
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.adapters.system.clock import SystemClock
from clawmem.app.services.indexing.folders import Folder
from clawmem.app.services.retrieval.request import read_request
from clawmem.app.services.retrieval.pipelines import search
from vault_stores import retrieval_stores
from wired import update_collection

place = Path(sys.argv[1])
vault = open_vault(str(place / "vault.sqlite"))
report = update_collection(vault, DiskFiles(), SystemClock(), parse_yaml)(Folder("notes", str(place / "notes")))
[found] = search(retrieval_stores(vault))(read_request("xylophone", now_ms=0)).results
assert vault.documents.body(found.document.id).endswith("xylophone")
status = Path("/proc/self/status")
if status.exists():  # where the usage of a process begins with that of the one which started it
    peak_mb = int(status.read_text().partition("VmHWM:")[2].split()[0]) / 1e3
else:
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
print(report.added, found.document.path, peak_mb)
"""
