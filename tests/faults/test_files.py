"""Files as they really are: broken, odd, huge, gone, and back again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from fault_worlds import World
from programs import run_program
from wired import wired

from clawmem.adapters.files.disk import DiskFiles
from clawmem.app.services.indexing import source
from clawmem.contracts.samples import save
from clawmem.ports.errors import Ambiguous
from clawmem.ports.records import InactiveReason, Scan


class TestNames:
    def test_two_files_with_the_same_body(self, world: World) -> None:
        """The short id names both and reads neither; the path does; removing one leaves the other found."""
        world.write("one.md", "The same words.\n")
        world.write("two.md", "The same words.\n")
        world.update()
        world.embed()
        lookup = wired(world.vault).lookup()

        with pytest.raises(Ambiguous) as caught:
            lookup.get("#" + world.at("one.md").hash[:6])
        assert caught.value.code == "AMBIGUOUS"
        assert all(name in str(caught.value) for name in ("notes/one.md", "notes/two.md"))
        assert lookup.get(str(caught.value.candidates[1])).document.path == "two.md"
        assert lookup.get("one.md").text == "The same words.\n"

        (world.root / "one.md").unlink()
        assert world.update().removed == 1

        for verb in ("search", "vsearch", "query"):
            assert world.found("same words", verb) == ["two.md"]
        assert lookup.get("#" + world.at("two.md").hash[:6]).document.path == "two.md"
        world.embed()
        assert world.verify() == []


class TestDisappearing:
    def test_between_the_listing_and_the_reading(self, world: World) -> None:
        """A file that goes meanwhile is named; the others are taken in, and the next pass finds nothing odd."""
        world.write("a.md", "Going.")
        world.write("b.md", "Staying.")
        world.files = Vanishing(world.root / "a.md")

        report = world.update()

        assert report.added == 1
        assert report.problems == ["a.md was skipped: it is gone."]
        assert world.update().problems == []
        assert world.verify() == []

    def test_a_file_that_comes_back_is_the_same_document(self, world: World) -> None:
        """It keeps its id, whether it says the same or something new."""
        world.write("a.md", "Zebra.")
        world.write("rest.txt", "An emptied folder loses no documents.")
        world.update()
        world.embed()
        first = world.at("a.md")
        for text in ("Zebra.", "Yak."):
            (world.root / "a.md").unlink()
            assert world.update().removed == 1
            assert world.at("a.md").inactive is InactiveReason.REMOVED
            assert world.found("zebra", "query") == []
            world.write("a.md", text)

            assert world.update().added == 1

            world.embed()
            assert world.at("a.md").id == first.id
            assert world.found(text, "query") == ["a.md"]
            assert world.verify() == []


class TestEdits:
    @pytest.mark.parametrize("looks", [1, 2, 3])
    def test_within_one_tick_of_the_clock(self, world: World, looks: int) -> None:
        """A second edit with the same size and the same time is seen, however often was looked before."""
        changed_ns = world.clock.now_ms() * 1_000_000
        file = world.write("a.md", "first words")
        os.utime(file, ns=(changed_ns, changed_ns))
        for _ in range(looks):
            world.clock.advance(100)
            world.update()
        file.write_text("other words")
        os.utime(file, ns=(changed_ns, changed_ns))

        world.clock.advance(100)
        assert world.update().updated == 1

        assert world.found("other") == ["a.md"]
        assert world.found("first") == []

    def test_with_the_former_size_and_time(self, world: World) -> None:
        """Files that exchange their names are seen, and a pin follows its text."""
        for name, text in (("a.md", "Zebra."), ("b.md", "Tapir.")):
            os.utime(world.write(name, text), (1, 1))
        world.clock.advance(10**12)  # long after the files were made, by the clock of this machine
        world.update()
        world.vault.documents.pin(world.at("a.md").id, True)
        for name, new in (("a.md", "c.txt"), ("b.md", "a.md"), ("c.txt", "b.md")):
            (world.root / name).rename(world.root / new)

        assert world.update().updated == 2
        assert (world.at("a.md").pinned, world.at("b.md").pinned) == (False, True)


class TestWithheld:
    def test_what_is_not_from_a_file_is_never_withdrawn(self, world: World) -> None:
        """A document without a stamp stays, whatever the folder holds."""
        told = save(world.vault, "told.md", "Said, not written.", collection="notes")
        world.write("a.md", "Zebra.")
        world.write("rest.txt", "")

        assert world.update(force=True).removed == 0

        (world.root / "a.md").unlink()
        assert world.update().removed == 1
        assert world.paths() == ["notes/told.md"]
        assert world.vault.documents.get(told).inactive is None

    @pytest.mark.parametrize("force", [False, True])
    def test_a_forgotten_note_never_comes_back(self, world: World, force: bool) -> None:
        """Neither a pass nor force nor an edit nor the file's leaving and return revive it."""
        withhold(world, InactiveReason.FORGOTTEN)

        def still_withheld() -> bool:
            return is_withheld(world, InactiveReason.FORGOTTEN, force=force)

        assert still_withheld()
        world.write("a.md", "Zebra and quagga.", hours_ago=1)
        assert still_withheld()
        (world.root / "a.md").unlink()
        assert still_withheld()
        world.write("a.md", "Quagga.", hours_ago=0.5)
        assert still_withheld()
        assert world.verify() == []

    @pytest.mark.parametrize("reason", [InactiveReason.ARCHIVED, InactiveReason.SUPERSEDED])
    @pytest.mark.parametrize("force", [False, True])
    def test_an_unchanged_file_stays_away(self, world: World, reason: InactiveReason, force: bool) -> None:
        """A pass, a new time of the same text, the file's leaving and return, and a move there and back change nothing."""
        withhold(world, reason)
        for name, former in (("sub/moved.md", "a.md"), ("a.md", "sub/moved.md")):
            (world.root / name).parent.mkdir(exist_ok=True)
            (world.root / former).rename(world.root / name)
            world.update(force=force)
            assert (world.at(name).inactive, world.paths()) == (reason, ["notes/b.md"])

        assert is_withheld(world, reason, force=force)
        world.write("a.md", "Zebra.", hours_ago=1)
        assert is_withheld(world, reason, force=force)
        (world.root / "a.md").unlink()
        assert is_withheld(world, reason, force=force)
        world.write("a.md", "Zebra.", hours_ago=0.5)
        assert is_withheld(world, reason, force=force)
        assert world.verify() == []

    @pytest.mark.parametrize("reason", [InactiveReason.ARCHIVED, InactiveReason.SUPERSEDED])
    def test_an_edited_file_is_active_again(self, world: World, reason: InactiveReason) -> None:
        """Its new text is searchable, under the same number, pinned as before; `verify` asks for the update."""
        withhold(world, reason)
        before = world.at("a.md")
        world.vault.documents.pin(before.id, True)
        world.write("a.md", "Quagga.", hours_ago=1)
        assert world.verify() == ["notes/a.md was changed on disk since it was indexed."]

        report = world.update()

        assert (report.added, report.updated, report.unchanged) == (1, 0, 1)
        assert (world.at("a.md").id, world.at("a.md").pinned) == (before.id, True)
        assert world.found("quagga") == ["a.md"]
        world.embed()
        assert world.verify() == []


def withhold(world: World, reason: InactiveReason) -> None:
    """Two notes, of which one is not served any more."""
    world.write("a.md", "Zebra.")
    world.write("b.md", "Yak.")
    world.update()
    world.embed()
    world.withdraw("a.md", reason)


def is_withheld(world: World, reason: InactiveReason, *, force: bool) -> bool:
    """Whether the note is still not served after a pass."""
    world.update(force=force)
    world.embed()
    gone = not any("a.md" in world.found("zebra quagga", verb) for verb in ("search", "query"))
    return gone and world.at("a.md").inactive is reason and world.paths() == ["notes/b.md"]


class TestForce:
    def test_replaces_and_loses_nothing(self, world: World) -> None:
        """Reading everything again gives the state that was there, revisions included."""
        world.write("a.md", "---\ntags: [x]\n---\n# Zebra\n\nStripes.\n")
        world.write("b.md", "Yak.")
        world.write("gone.md", "Gnu.")
        world.update()
        world.embed()
        (world.root / "gone.md").unlink()
        world.update()
        before = world.state()

        report = world.update(force=True)

        assert (report.added, report.updated, report.removed) == (0, 2, 0)
        assert world.state() == before


class Vanishing(DiskFiles):
    """Files of which one is deleted as soon as the folder has been listed."""

    def __init__(self, victim: Path) -> None:
        super().__init__()
        self._victim = victim

    def scan(self, *args: object, **asked: object) -> Scan:
        found: Scan = super().scan(*args, **asked)  # type: ignore[arg-type]
        self._victim.unlink(missing_ok=True)
        return found


# -- Texts and front matter that are broken, odd or huge.


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

    @pytest.mark.parametrize("megabytes", [2, pytest.param(20, marks=pytest.mark.slow)])
    def test_one_line_of_many_megabytes(
        self, tmp_path: Path, environ: dict[str, str], megabytes: int
    ) -> None:
        """It is indexed to its last word, in memory of a few times its size."""
        (tmp_path / "notes").mkdir()
        row = "many words in a row " * 50_000
        (tmp_path / "notes/long.md").write_text(row * megabytes + "xylophone", "utf-8")

        environ = {**environ, "PYTHONPATH": str(Path(__file__).parents[1])}
        added, found, more_mb = run_program(ONE_LINE, tmp_path, env=environ).stdout.split()

        assert (added, found) == ("1", "long.md")
        assert float(more_mb) < 20 * megabytes

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


ONE_LINE = '''
import resource, sys
from pathlib import Path
from clawmem.adapters.files.disk import DiskFiles
from clawmem.adapters.files.front_matter import parse_front_matter
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.adapters.system.clock import SystemClock
from clawmem.app.services.indexing.folders import Folder
from clawmem.app.services.retrieval.request import read_request
from clawmem.app.services.retrieval.pipelines import search
from vault_stores import retrieval_stores
from wired import update_collection


def peak_mb():
    """The most memory this process has had, in MB."""
    status = Path("/proc/self/status")
    if status.exists():  # where the usage of a process begins with that of the one which started it
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) / 1e3
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)


before_mb = peak_mb()
place = Path(sys.argv[1])
vault = open_vault(str(place / "vault.sqlite"))
report = update_collection(vault, DiskFiles(), SystemClock(), parse_front_matter)(Folder("notes", str(place / "notes")))
[found] = search(retrieval_stores(vault))(read_request("xylophone", now_ms=0)).results
assert vault.documents.body(found.document.id).endswith("xylophone")
print(report.added, found.document.path, peak_mb() - before_mb)
'''
