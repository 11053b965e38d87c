"""What killed writers, competing ones, full disks and broken files leave of the sidecar."""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import finish, kill, start_program, wait_until_ready

from clawmem.adapters.sidecar.vector_index import SidecarVectorIndex
from clawmem.contracts.samples import unit_vector
from clawmem.ports.errors import IndexDamaged, IndexUnavailable, VaultError
from clawmem.ports.records import FragmentKey, Marker, VectorEntry

WRITERS, COMMITS = 4, 12
EAST = unit_vector(*[1.0] + [0.0] * 63)

# Commit number n puts a hundred documents of four fragments and takes every second of those of two commits ago away.
WRITER = """
import sys
from clawmem.adapters.sidecar.vector_index import SidecarVectorIndex
from clawmem.ports.records import FragmentKey, Marker, VectorEntry
import clawmem.adapters.sidecar.draft, random, struct

index = SidecarVectorIndex(sys.argv[1])
print("ready", flush=True)
while True:
    number = index.marker().seq + 1 if index.marker() else 1
    dice = random.Random(number)
    vectors = [struct.pack("<64f", *(dice.gauss(0, 1) for _ in range(64))) for _ in range(400)]
    keys = [FragmentKey(100 * number + n // 4, n % 4) for n in range(400)]
    with index.committing(Marker("vault-1", number, f"e{number}")):
        for document in range(100 * (number - 2), 100 * (number - 1), 2):
            index.remove(document)
        for first in range(0, 400, 100):
            index.put(map(VectorEntry, keys[first : first + 100], vectors[first : first + 100]))
    print(number, flush=True)
    if number % 5 == 0:
        index.optimize()
"""

RIVAL = """
import sys
from clawmem.adapters.sidecar.vector_index import SidecarVectorIndex
from clawmem.ports.records import FragmentKey, VectorEntry
import struct

folder, rival, commits = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
index = SidecarVectorIndex(folder, patience_s=60)
vector = struct.pack("<64f", *[1.0] * 64)
for number in range(commits):
    with index.committing():
        index.put([VectorEntry(FragmentKey(1000 * rival + number, seq), vector) for seq in range(3)])
        if number:
            index.remove(1000 * rival + number - 1)
"""


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(tmp_path / "vectors")


class TestWriters:
    @pytest.mark.skipif(sys.platform == "win32", reason="signals are another matter there")
    @pytest.mark.parametrize("kills", [3, pytest.param(20, marks=pytest.mark.slow)])
    def test_killed_at_any_moment(self, folder: str, environ: dict[str, str], kills: int) -> None:
        """Marker and content agree, nothing that was acknowledged is missing, and the next one can write."""
        dice = random.Random(1)
        for _ in range(kills):
            acknowledged = kill_writer(folder, environ, dice)

            index = SidecarVectorIndex(folder, patience_s=1)
            assert index.faults() == []
            marker = index.marker()
            assert marker is not None and marker.seq >= acknowledged
            assert found(index) == expected(marker)

            with index.committing():  # the lock is free, and what the writer left goes
                index.put([VectorEntry(FragmentKey(10**6, 0), EAST)])
                index.remove(10**6)
            assert names(folder) == {file.name for file in index._current().manifest.files()}
            index.close()

    def test_competing(self, folder: str, environ: dict[str, str]) -> None:
        """Four processes commit at the same time; every commit of each is there, once."""
        SidecarVectorIndex(folder)
        for one in [
            start_program(RIVAL, folder, rival, COMMITS, environ=environ) for rival in range(WRITERS)
        ]:
            finish(one)

        last = [1000 * rival + COMMITS - 1 for rival in range(WRITERS)]
        assert found(SidecarVectorIndex(folder)) == {(document, seq) for document in last for seq in range(3)}

    @pytest.mark.skipif(sys.platform == "win32", reason="there are no limits of files there")
    def test_no_room(self, folder: str) -> None:
        """A commit that cannot be written leaves the last one, and the next succeeds."""
        import resource

        index = SidecarVectorIndex(folder)
        with index.committing(Marker("vault-1", 1, "e1")):
            index.put(entries(10))
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
        try:
            with pytest.raises(IndexUnavailable), index.committing(Marker("vault-1", 2, "e2")):
                index.put(entries(1000))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

        assert (index.count(), index.marker(), index.faults()) == (10, Marker("vault-1", 1, "e1"), [])
        index.put(entries(1000))
        assert index.count() == 1000
        assert names(folder) == {file.name for file in index._current().manifest.files()}

    def test_a_folder_that_cannot_be_written(self, unprivileged: Path) -> None:
        """Opening says so, and what is there already can be read."""
        index = SidecarVectorIndex(str(unprivileged / "vectors"))
        index.put(entries(3))
        (unprivileged / "vectors").chmod(0o500)
        unprivileged.chmod(0o500)

        with pytest.raises(IndexUnavailable):
            SidecarVectorIndex(str(unprivileged / "others"))
        with pytest.raises(IndexUnavailable):
            index.put(entries(5))
        assert SidecarVectorIndex(str(unprivileged / "vectors"), read_only=True).count() == 3

    def test_a_folder_that_a_killed_process_began(self, folder: str) -> None:
        """Killed before its first manifest stood: it is made again, as if it were new."""
        Path(folder).mkdir()
        (Path(folder) / "lock").touch()
        (Path(folder) / "0123.new").write_bytes(b'{"form')

        index = SidecarVectorIndex(folder)
        index.put(entries(3))

        assert index.count() == 3
        assert not (Path(folder) / "0123.new").exists()


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def lengthen(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\0")


def empty(path: Path) -> None:
    path.write_bytes(b"")


def scramble(path: Path) -> None:
    path.write_bytes(bytes(len(path.read_bytes())))


def another_version(path: Path) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | {"version": 99}))


def another_length(path: Path) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | {"dimensions": 65}))


def another_format(path: Path) -> None:
    path.write_text('{"name": "something else"}')


class TestDamage:
    @pytest.mark.parametrize("damage", [Path.unlink, cut, lengthen, empty, scramble])
    @pytest.mark.parametrize("suffix", [".segment", ".deletions"])
    def test_of_a_file(self, folder: str, suffix: str, damage: Callable[[Path], None]) -> None:
        """It is found at the next opening and by every self-test, and is the index's typed error."""
        index = filled(folder)
        damage(next(Path(folder).glob("*" + suffix)))

        with pytest.raises(IndexDamaged, match="clawmem rebuild"):
            SidecarVectorIndex(folder)
        (fault,) = index.faults()
        assert fault.endswith(f"{suffix} in {folder} is not as it was written.")

    @pytest.mark.parametrize(
        "damage", [Path.unlink, cut, empty, scramble, another_version, another_length, another_format]
    )
    def test_of_the_manifest(self, folder: str, damage: Callable[[Path], None]) -> None:
        """It is found at the next opening, and by a handle that is open at its next read."""
        index = filled(folder)
        damage(Path(folder) / "manifest.json")

        for read in (index.marker, index.count, lambda: index.search(EAST, 1), index.optimize):
            with pytest.raises(IndexDamaged):
                read()
        with pytest.raises(IndexDamaged):
            SidecarVectorIndex(folder)
        assert len(index.faults()) == 1

    def test_of_a_single_byte(self, folder: str) -> None:
        """What opening cannot see the self-test does."""
        index = filled(folder)
        segment = next(Path(folder).glob("*.segment"))
        content = bytearray(segment.read_bytes())
        content[-1] ^= 1
        segment.write_bytes(content)

        (fault,) = index.faults()

        assert segment.name in fault

    def test_a_file_in_the_place_of_the_folder(self, folder: str) -> None:
        """It is the index's error, not the system's."""
        Path(folder).write_text("a note")

        for read_only in (False, True):
            with pytest.raises(VaultError):
                SidecarVectorIndex(folder, read_only=read_only)


def kill_writer(folder: str, environ: dict[str, str], dice: random.Random) -> int:
    """Let a writer commit some times and kill it within the next commits; the last one that it told of."""
    process = start_program(WRITER, folder, environ=environ)
    wait_until_ready(process)
    began = time.monotonic()
    commits = dice.randint(1, 4)
    told = [process.stdout.readline() for _ in range(commits)]
    time.sleep(dice.uniform(0, 2) * (time.monotonic() - began) / commits)
    return int([*told, *kill(process).split()][-1])


def expected(marker: Marker) -> set[tuple[int, int]]:
    """What the writer's commits leave up to that one."""
    last = marker.seq
    assert marker == Marker("vault-1", last, f"e{last}")
    documents = [
        100 * number + place
        for number in range(1, last + 1)
        for place in range(100)
        if place % 2 or number > last - 2
    ]
    return {(document, seq) for document in documents for seq in range(4)}


def found(index: SidecarVectorIndex) -> set[tuple[int, int]]:
    """All that is in it."""
    hits = index.search(EAST, 1_000_000)
    assert len(hits) == index.count() == len({hit.key for hit in hits})
    return {tuple(hit.key) for hit in hits}


def names(folder: str) -> set[str]:
    """The files beside manifest and lock."""
    return {path.name for path in Path(folder).iterdir()} - {"manifest.json", "lock"}


def entries(count: int) -> list[VectorEntry]:
    return [VectorEntry(FragmentKey(number, 0), EAST, "notes") for number in range(count)]


def filled(folder: str) -> SidecarVectorIndex:
    """An index of one segment with something deleted."""
    index = SidecarVectorIndex(folder)
    index.put(entries(300))
    index.remove(7)
    return index
