"""The sidecar at the sizes it is made for, and what is in its folder."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pytest
from numpy.typing import NDArray
from programs import run_program

import clawmem
from clawmem.adapters.sidecar import vector_index
from clawmem.adapters.sidecar.backend import SIDECAR
from clawmem.adapters.sidecar.codes import counted_in_parallel, differing_bits, encode
from clawmem.adapters.sidecar.draft import due_for_merging
from clawmem.adapters.sidecar.manifest import FileRecord, SegmentRecord
from clawmem.adapters.sidecar.vector_index import SidecarVectorIndex
from clawmem.ports.backend import IndexPlace
from clawmem.ports.errors import IndexBusy, IndexDamaged, VaultReadOnly
from clawmem.ports.records import EVERYTHING, FragmentKey, Marker, Scope, VectorEntry

Floats = NDArray[np.float32]
Open = Callable[..., SidecarVectorIndex]

ROWS, DIMENSIONS = 20_000, 100  # dimensions that fill neither a byte nor a word
QUESTIONS = 40
HERE = Marker("vault-1", 7, "e7")


@pytest.fixture
def open_index(tmp_path: Path) -> Open:
    """Opens the index of this test, as often as one likes."""

    def open_one(**options: object) -> SidecarVectorIndex:
        return SidecarVectorIndex(str(tmp_path / "vectors"), **options)  # type: ignore[arg-type]

    return open_one


@pytest.fixture(scope="module")
def vectors() -> Floats:
    """Directions that crowd about some hundred topics, as those of texts do; the last ones are for asking."""
    dice = np.random.default_rng(1)
    topics = dice.standard_normal((300, DIMENSIONS))
    topic = dice.integers(len(topics), size=ROWS + QUESTIONS)
    return unit(topics[topic] + 1.5 * dice.standard_normal((len(topic), DIMENSIONS)))


def unit(rows: NDArray[np.floating]) -> Floats:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def entries(rows: Floats, first: int = 0, collection: str = "notes", day: int = 1) -> list[VectorEntry]:
    """Ten fragments a document, numbered through from *first*."""
    when = f"2024-03-{day:02}T00:00:00.000Z"
    return [
        VectorEntry(FragmentKey(*divmod(number, 10)), row.tobytes(), collection, when)
        for number, row in enumerate(rows, first)
    ]


def fill(index: SidecarVectorIndex, rows: Floats, commits: int = 1) -> None:
    """Put all rows in, in so many commits of one length."""
    size = len(rows) // commits
    for first in range(0, len(rows), size):
        index.put(entries(rows[first : first + size], first))


def recall(index: SidecarVectorIndex, rows: Floats, questions: Floats) -> float:
    """The share of the ten nearest that are found; every score must be the cosine, and their order theirs."""
    found = 0
    for question in questions:
        hits = index.search(question.tobytes(), 10)
        places = [10 * hit.key.document_id + hit.key.seq for hit in hits]
        assert [hit.score for hit in hits] == pytest.approx(rows[places] @ question, abs=1e-6)
        assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.key))
        found += len(set(places) & set(true_nearest(rows, question)))
    return found / (10 * len(questions))


def true_nearest(rows: Floats, question: Floats) -> list[int]:
    return np.argpartition(-(rows @ question), 10)[:10].tolist()


class TestNearest:
    def test_exact_while_few_are_in_scope(self, open_index: Open, vectors: Floats) -> None:
        """Of twenty thousand vectors the nearest ten are the true ones, in every way of dividing them."""
        rows, questions = vectors[:ROWS], vectors[ROWS:]
        index = open_index()
        fill(index, rows, commits=10)
        assert recall(index, rows, questions) == 1

        index.optimize()

        assert recall(index, rows, questions) == 1
        assert index.method == "sidecar, exact"

    @pytest.mark.parametrize("commits", [1, 2])
    def test_nearly_all_are_found_by_codes(
        self, open_index: Open, vectors: Floats, commits: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Beyond that, ninety-eight of a hundred are found, in one segment or several; scores are cosines."""
        monkeypatch.setattr(vector_index, "CANDIDATES", 4000)  # not nearly all of so few
        rows, questions = vectors[:ROWS], vectors[ROWS:]
        index = open_index(exact_rows=ROWS - 1)
        fill(index, rows, commits)

        assert 0.98 <= recall(index, rows, questions) < 1  # all of them would mean that no code was used
        assert index.method == "sidecar, bit codes"

    def test_vectors_that_lean_to_one_side(self, open_index: Open, vectors: Floats) -> None:
        """The same for a model whose vectors are all alike, with an average cosine of 0.7."""
        lean = np.full(DIMENSIONS, 1.5 / np.sqrt(DIMENSIONS))
        leaning = unit(vectors + lean)
        index = open_index(exact_rows=0)
        fill(index, leaning[:ROWS])

        assert recall(index, leaning[:ROWS], leaning[ROWS:]) >= 0.98

    @pytest.mark.parametrize("exact_rows", [0, ROWS])
    def test_equal_vectors_are_cut_by_key(self, open_index: Open, vectors: Floats, exact_rows: int) -> None:
        """Of ten thousand equal vectors the first by key come, wherever they lie and whatever lies between."""
        index = open_index(exact_rows=exact_rows)
        same = np.repeat(vectors[:1], 9000, axis=0)
        index.put(entries(same, first=1000))
        index.put(entries(np.vstack([same[:3], vectors[1:8], same[:990]])))
        index.remove(100)

        hits = index.search(vectors[0].tobytes(), 6)

        assert [10 * hit.key.document_id + hit.key.seq for hit in hits] == [0, 1, 2, 10, 11, 12]
        assert len({hit.score for hit in hits}) == 1

    def test_what_single_precision_cannot_tell_apart(self, open_index: Open) -> None:
        """The nearest five of thousands that differ in the eighth digit are those that the whole ranking begins with."""
        near = np.full(DIMENSIONS, 0.1) + 1e-5 * np.random.default_rng(4).standard_normal((3000, DIMENSIONS))
        index = open_index()
        index.put(entries(unit(near)))
        question = unit(np.full((1, DIMENSIONS), 0.1))[0].tobytes()

        assert index.search(question, 5) == index.search(question, 3000)[:5]

    def test_a_large_scope_beyond_exact(self, open_index: Open, vectors: Floats) -> None:
        """Half of the vectors, in scope or not, gone or not: found as well as in an index of their own."""
        index = open_index(exact_rows=0)
        rows, questions = vectors[:ROWS].copy(), vectors[ROWS:]
        index.put(entries(rows[:15_000], 0, "half"))
        index.put(entries(rows[15_000:], 15_000, "other"))
        with index.committing():
            for document in range(0, 1500, 5):
                index.remove(document)
        is_seen = np.arange(15_000) // 10 % 5 != 0
        rows[:15_000][~is_seen] = rows[15_000:] = 0
        found = 0
        for question in questions:
            hits = index.search(question.tobytes(), 10, Scope(frozenset({"half"})))
            places = {10 * hit.key.document_id + hit.key.seq for hit in hits}
            found += len(places & set(true_nearest(rows, question)))

        assert index._current().manifest.segments[0].deleted == 3000
        assert found / (10 * len(questions)) >= 0.98


class TestCodes:
    @pytest.mark.parametrize("dimensions", [1, 8, 13, 64, 65, 256, 300])
    def test_differing_bits(self, dimensions: int) -> None:
        """They are the numbers that lie on different sides of the centre, whatever the dimensions."""
        dice = np.random.default_rng(dimensions)
        rows = dice.standard_normal((200, dimensions)).astype(np.float32)
        rows[0] = -rows[1]
        centre = rows.mean(axis=0)

        bits = differing_bits(encode(rows, centre), encode(rows[1:2], centre))

        assert bits.tolist() == ((rows > centre) != (rows[1] > centre)).sum(axis=1).tolist()

    def test_counting_without_the_newer_numpy(self) -> None:
        """Both ways of counting bits agree."""
        words = np.random.default_rng(2).integers(0, 2**64, size=1000, dtype=np.uint64)
        words[:2] = 0, 2**64 - 1

        assert counted_in_parallel(words).tolist() == [int(word).bit_count() for word in words]


class TestSegments:
    def test_many_commits_make_few_segments(self) -> None:
        """After two thousand commits there are some ten segments, and a row was written some five times."""
        segments: list[SegmentRecord] = []
        written = 0
        for _ in range(2000):
            segments.append(record(500))
            written += 500
            while due := due_for_merging(segments):
                merged = record(sum(segments[place].live for place in due))
                segments = [s for place, s in enumerate(segments) if place not in due] + [merged]
                written += merged.rows

        assert len(segments) <= 28
        assert written <= 6 * 2000 * 500

    def test_much_that_is_deleted_is_written_anew(self) -> None:
        """A segment is due when more than a quarter of it is deleted, and not before."""
        assert due_for_merging([record(100, 0), record(100, 25)]) == []
        assert due_for_merging([record(100, 0), record(100, 26)]) == [1]

    def test_changes_lead_to_the_index_that_was_made_at_once(self, open_index: Open, vectors: Floats) -> None:
        """Put, replaced and removed in random order over many commits: what stays is what a dict says."""
        index, dice = open_index(), np.random.default_rng(3)
        expected: dict[FragmentKey, float] = {}
        for number in range(30):
            with index.committing(Marker("vault-1", number, "e")):
                for document in dice.integers(0, 40, size=6).tolist():
                    index.remove(document)
                    expected = {key: row for key, row in expected.items() if key.document_id != document}
                new = entries(vectors[100 * number : 100 * number + 37], int(dice.integers(0, 400)))
                index.put(new)
                expected |= {
                    entry.key: float(np.frombuffer(entry.vector, "<f4") @ vectors[-1]) for entry in new
                }

            hits = open_index().search(vectors[-1].tobytes(), 1000)

            assert {hit.key: hit.score for hit in hits} == pytest.approx(expected, abs=1e-6)
            assert index.count() == len(expected)
            assert index.faults() == []

    def test_nothing_is_left_lying(self, open_index: Open, tmp_path: Path, vectors: Floats) -> None:
        """After merging, one segment beside manifest and lock; after clearing, no segment at all."""
        index = open_index()
        fill(index, vectors[:1000], commits=5)
        index.remove(3)
        assert len(suffixes(tmp_path)) == 8  # five segments, and who is deleted in one of them

        index.optimize()
        assert suffixes(tmp_path) == ["", ".json", ".segment"]

        index.clear()
        assert suffixes(tmp_path) == ["", ".json"]

    def test_a_commit_that_changes_nothing_writes_nothing(self, open_index: Open, tmp_path: Path) -> None:
        """Removing what is not there leaves the manifest as it is."""
        index = open_index()
        with index.committing(HERE):
            pass
        before = (tmp_path / "vectors" / "manifest.json").stat()

        index.remove(7)
        index.optimize()

        assert (tmp_path / "vectors" / "manifest.json").stat() == before


def record(rows: int, deleted: int = 0) -> SegmentRecord:
    return SegmentRecord(FileRecord("", 0, 0), rows, deleted)


def suffixes(place: Path) -> list[str]:
    return sorted(path.suffix for path in (place / "vectors").iterdir())


class TestOthers:
    def test_readers_see_whole_commits_while_one_writes(self, open_index: Open, vectors: Floats) -> None:
        """What a reader finds during forty commits and mergings is always what one of them left."""
        writer, reader = open_index(), open_index(read_only=True)
        done = threading.Event()

        def read() -> list[tuple[int, int]]:
            seen = []
            while not done.is_set():
                keys = [hit.key for hit in reader.search(vectors[0].tobytes(), 10_000)]
                seen.append((len(keys), len({key.document_id for key in keys})))
            return seen

        with ThreadPoolExecutor() as pool:
            reading = pool.submit(read)
            for number in range(40):
                with writer.committing(Marker("vault-1", number, "e")):
                    writer.remove(number // 2)
                    writer.put(entries(vectors[:20], 20 * number))
            done.set()
            seen = reading.result()

        assert all(rows == 10 * documents for rows, documents in seen)
        assert len(set(seen)) > 3

    def test_a_commit_while_a_reader_opens(
        self, open_index: Open, vectors: Floats, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A file that was swept between manifest and opening is no damage: the reader begins again."""
        writer, reader = open_index(), open_index(read_only=True)
        fill(writer, vectors[:100], commits=2)
        open_file = reader._folder.open

        def open_late(record: FileRecord) -> BinaryIO:
            monkeypatch.undo()
            writer.optimize()
            return open_file(record)

        monkeypatch.setattr(reader._folder, "open", open_late)

        assert reader.count() == 100
        assert len(reader.search(vectors[0].tobytes(), 1000)) == 100

    def test_a_writer_waits_and_then_says_so(self, open_index: Open, vectors: Floats) -> None:
        """While another handle commits a change is refused in time; afterwards it is made."""
        other = open_index(patience_s=0.05)

        with open_index().committing(), pytest.raises(IndexBusy):
            other.put(entries(vectors[:1]))

        other.put(entries(vectors[:1]))
        assert other.count() == 1

    def test_opening_does_not_wait_for_a_writer(self, open_index: Open) -> None:
        """An index that is there is opened and read while another handle commits."""
        with open_index().committing(HERE):
            assert open_index(patience_s=0).marker() is None

    def test_reading_only(self, open_index: Open, vectors: Floats) -> None:
        """A handle for reading answers, sees later commits, and refuses to write."""
        index = open_index()
        reader = open_index(read_only=True)
        index.put(entries(vectors[:5]))

        assert len(reader.search(vectors[0].tobytes(), 10)) == 5
        for change in (lambda: reader.put(entries(vectors[:1])), lambda: reader.remove(1), reader.clear):
            with pytest.raises(VaultReadOnly):
                change()
        assert index.count() == 5

    def test_a_missing_folder_cannot_be_read(self, open_index: Open, tmp_path: Path) -> None:
        """Opened for reading, nothing is made."""
        with pytest.raises(IndexDamaged, match="missing"):
            open_index(read_only=True)

        assert not list(tmp_path.iterdir())

    def test_its_marker_costs_no_numpy(self, open_index: Open, tmp_path: Path, vectors: Floats) -> None:
        """Marker and count are told by a process that never imports numpy."""
        index = open_index()
        with index.committing(HERE):
            index.put(entries(vectors[:5]))
        code = (
            "import sys\n"
            "from clawmem.adapters.sidecar.vector_index import SidecarVectorIndex\n"
            f"index = SidecarVectorIndex({str(tmp_path / 'vectors')!r})\n"
            "print(index.marker().seq, index.count(), index.method, 'numpy' in sys.modules)"
        )

        above = str(Path(clawmem.__path__[0]).parent)
        assert run_program(code, env={"PYTHONPATH": above}).stdout == "7 5 sidecar, exact False\n"

    def test_the_backend_opens_and_discards(self, tmp_path: Path, vectors: Floats) -> None:
        """A generation lives in its folder alone, and is gone with it; a second time that is no error."""
        place = IndexPlace(str(tmp_path / "generation-1"), "vault-1")
        assert SIDECAR.vectors is not None
        SIDECAR.vectors(place).put(entries(vectors[:3]))
        assert SIDECAR.vectors(place).search(vectors[0].tobytes(), 1, EVERYTHING)[0].key == FragmentKey(0, 0)

        SIDECAR.discard(place)
        SIDECAR.discard(place)

        assert not list(tmp_path.iterdir())
