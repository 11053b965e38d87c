"""A tantivy index that is killed, damaged, fought over or forbidden: it says so, and loses nothing it acknowledged."""

from __future__ import annotations

import inspect
import random
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock
from programs import kill, start_program, wait_until_ready
from tantivy import Index, SchemaBuilder

from clawmem.adapters.tantivy.lexical_index import TantivyLexicalIndex
from clawmem.contracts.samples import any_of, entry
from clawmem.ports.errors import IndexBusy, IndexDamaged
from clawmem.ports.records import Grain, Marker

HERE = Marker("vault-1", 7, "e7")
DOCUMENTS = 40
Damage = Callable[[Path], None]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where an index with a marker and one entry at each grain lies, closed."""
    index = TantivyLexicalIndex(str(tmp_path / "lexical"))
    with index.committing(HERE):
        index.put([entry(1, "budget plain", grain=grain) for grain in Grain])
    return tmp_path / "lexical"


class TestKill:
    @pytest.mark.parametrize("kills", [3, pytest.param(20, marks=pytest.mark.slow)])
    def test_a_writer_that_is_killed(self, tmp_path: Path, environ: dict[str, str], kills: int) -> None:
        """At whatever moment: it opens, holds all up to its marker, is not locked, and heals by going on from there."""
        chance = random.Random(9)
        place = str(tmp_path / "lexical")
        for _ in range(kills):
            acknowledged = killed(place, environ, chance.randint(1, 3), chance.random())

            index = TantivyLexicalIndex(place, patience_s=2)
            marker = index.marker()
            seq = marker.seq if marker else 0
            assert acknowledged <= seq <= acknowledged + 1
            for grain in Grain:
                assert contents(index, grain, seq + 1) in (expected(seq), expected(seq + 1))
            assert index.faults() == []
            for batch in (seq + 1, seq + 2):
                apply(index, batch)
            assert [contents(index, grain, seq + 2) for grain in Grain] == [expected(seq + 2)] * len(Grain)


class TestDamage:
    @pytest.mark.parametrize("ending", ["term", "idx", "pos", "fast", "fieldnorm", "store"])
    @pytest.mark.parametrize("kept", [0.0, 0.5])
    def test_a_truncated_file(self, folder: Path, ending: str, kept: float) -> None:
        """A file that was cut off is found when the index is opened."""
        cut(next((folder / "passage").glob(f"*.{ending}")), kept)

        assert_damaged(folder)

    @pytest.mark.parametrize(
        "damage",
        [
            lambda folder: cut(folder / "line/meta.json", 0.5),
            lambda folder: (folder / "line/meta.json").unlink(),
            lambda folder: (folder / "line/meta.json").write_text("[1]"),
            lambda folder: (folder / "line/.managed.json").write_text("what is this"),
            lambda folder: next((folder / "document").glob("*.store")).unlink(),
            lambda folder: another_layout(folder / "line"),
            lambda folder: in_its_place(folder, "a file"),
        ],
        ids=["cut list", "no list", "another list", "no JSON", "missing", "layout", "a file"],
    )
    def test_what_is_no_index(self, folder: Path, damage: Damage) -> None:
        """Whatever is not what was written there is refused, by writers and by readers."""
        damage(folder)

        assert_damaged(folder)

    @pytest.mark.parametrize("ending", ["pos", "fast"])
    def test_an_entry_that_is_not_found(self, folder: Path, ending: str) -> None:
        """An entry that cannot be read, or is not found by its key, is named among the faults."""
        file = next((folder / "passage").glob(f"*.{ending}"))
        content = bytearray(file.read_bytes())
        content[len(content) // 8] ^= 1
        file.write_bytes(content)

        assert len(TantivyLexicalIndex(str(folder)).faults()) == 1


class TestLock:
    def test_gives_up_in_time(self, folder: Path, elsewhere: FileLock) -> None:
        """When the lock is not given back the commit fails with a typed error, changes nothing, and can be repeated."""
        index = TantivyLexicalIndex(str(folder), patience_s=0.2)
        elsewhere.acquire()
        began = time.monotonic()

        with pytest.raises(IndexBusy), index.committing(Marker("vault-1", 8, "e8")):
            index.remove(1)

        assert 0.2 < time.monotonic() - began < 20
        assert (found(index, "budget", Grain.LINE), index.marker()) == ({1}, HERE)
        elsewhere.release()
        index.remove(1)
        assert found(index, "budget", Grain.LINE) == set()

    @pytest.fixture
    def elsewhere(self, folder: Path) -> FileLock:
        """The write lock as another process holds it."""
        return FileLock(folder / "write.lock", thread_local=False)


def killed(place: str, environ: dict[str, str], batches: int, share: float) -> int:
    """Kill a process when it has committed *batches* and done a *share* of the next; the last it acknowledged."""
    process = started(place, environ, 0, 1_000_000)
    with process:
        began = time.monotonic()
        said = [process.stdout.readline() for _ in range(batches)]
        time.sleep(share * (time.monotonic() - began) / batches)
        said += kill(process).splitlines()
    return int(said[-1])


def started(place: str, environ: dict[str, str], first: int, last: int) -> subprocess.Popen[str]:
    """A process that commits batches from *first* on, or from where the index stands; it has begun when it is given."""
    process = start_program(PROGRAM, place, first, last, environ=environ)
    wait_until_ready(process)
    return process


def documents_of(batch: int) -> list[int]:
    """What a batch changes: five documents of forty, or of another forty from batch 1001 on."""
    return [(batch * 7 + number * 3) % DOCUMENTS + DOCUMENTS * (batch // 1000) + 1 for number in range(5)]


def apply(index: TantivyLexicalIndex, batch: int) -> None:
    """One commit: documents are taken out and put in again with the words of this batch, at every grain."""
    with index.committing(Marker("vault-1", batch, f"e{batch}")):
        for document in documents_of(batch):
            index.remove(document)
            index.put(
                [entry(document, f"batch{batch}", seq=seq, grain=grain) for grain in Grain for seq in (0, 1)]
            )


def expected(seq: int) -> dict[int, int]:
    """Which batch each document was last changed by."""
    return {document: batch for batch in range(1, seq + 1) for document in documents_of(batch)}


def contents(index: TantivyLexicalIndex, grain: Grain, seq: int) -> dict[int, int]:
    """The same as the index answers it; after forty batches every document has been changed again."""
    held = {
        document: batch
        for batch in range(max(1, seq - DOCUMENTS), seq + 1)
        for document in found(index, f"batch{batch}", grain)
    }
    assert index.count(grain) == 2 * len(held)
    return held


def found(index: TantivyLexicalIndex, word: str, grain: Grain) -> set[int]:
    return {hit.key.document_id for hit in index.search(any_of(word), grain, 1000)}


def assert_damaged(folder: Path) -> None:
    """Assert that neither a writer nor a reader takes the index, and that nothing about it changes."""
    before = folder_content(folder)
    for read_only in (False, True):
        with pytest.raises(IndexDamaged):
            TantivyLexicalIndex(str(folder), read_only=read_only)
    assert folder_content(folder) == before


def folder_content(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in [folder, *folder.rglob("*")] if path.is_file()}


def cut(file: Path, kept: float) -> None:
    content = file.read_bytes()
    file.write_bytes(content[: int(len(content) * kept)])


def another_layout(folder: Path) -> None:
    """An index of other fields where ours was."""
    shutil.rmtree(folder)
    folder.mkdir()
    Index(SchemaBuilder().add_text_field("other").build(), str(folder))


def in_its_place(folder: Path, text: str) -> None:
    shutil.rmtree(folder)
    folder.write_text(text)


WRITER = """
place, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
index = TantivyLexicalIndex(place)
marker = index.marker()
print("ready", flush=True)
for batch in range(first or (marker.seq + 1 if marker else 1), last):
    apply(index, batch)
    print(batch, flush=True)
"""

# The process that is killed commits by the very same rules as the test expects.
PROGRAM = "\n".join(
    [
        "from __future__ import annotations",
        "import sys",
        "from clawmem.adapters.tantivy.lexical_index import TantivyLexicalIndex",
        "from clawmem.contracts.samples import entry",
        "from clawmem.ports.records import Grain, Marker",
        f"DOCUMENTS = {DOCUMENTS}",
        inspect.getsource(documents_of),
        inspect.getsource(apply),
        WRITER,
    ]
)
