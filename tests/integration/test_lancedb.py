"""What is particular to the LanceDB indexes: how they scale, what they leave behind, what they make of a broken folder."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from clawmem.adapters.lancedb import derived_index
from clawmem.adapters.lancedb.backend import BACKEND
from clawmem.adapters.lancedb.lexical_index import LanceLexicalIndex
from clawmem.adapters.lancedb.store import store_of
from clawmem.adapters.lancedb.term_queries import WORDS_OF_A_PREFIX
from clawmem.adapters.lancedb.vector_index import LanceVectorIndex
from clawmem.adapters.lancedb.words import BOUNDARY
from clawmem.adapters.memory.lexical_index import MemoryLexicalIndex
from clawmem.contracts.samples import all_of, any_of, cosine, entry, unit_vector, vector_of
from clawmem.ports.backend import IndexPlace
from clawmem.ports.errors import BackendUnavailable, BadVector, IndexDamaged, VaultReadOnly
from clawmem.ports.records import (
    FragmentKey,
    Grain,
    LexicalEntry,
    LexicalQuery,
    Marker,
    Scope,
    Term,
    VectorEntry,
)

HERE = Marker("vault-1", 7, "e7")
EAST = unit_vector(1, 0, 0)
DIMENSIONS = 16
# Searches as a process of its own, and says whether the engine's package was imported for that.
READ = """
import sys
from clawmem.adapters.lancedb.lexical_index import LanceLexicalIndex
from clawmem.adapters.lancedb.vector_index import LanceVectorIndex
from clawmem.contracts.samples import any_of, unit_vector
from clawmem.ports.backend import IndexPlace
from clawmem.ports.records import Grain, Term

place, exact_below = IndexPlace(sys.argv[1], "generation-1", read_only=True), int(sys.argv[2])
index = LanceLexicalIndex(place, exact_below=exact_below)
for asked in ("budget", Term("budg", prefix=True), "budget spring"):
    print(*(hit.key.document_id for hit in index.search(any_of(asked), Grain.PASSAGE, 5)))
print(index.holding(Term("budg", prefix=True), Grain.PASSAGE), index.holding(Term("spring"), Grain.PASSAGE))
vectors = LanceVectorIndex(place, exact_below=exact_below)
print(*(hit.key.document_id for hit in vectors.search(unit_vector(1, 0, 0), 5)), "lancedb" in sys.modules)
"""


@pytest.fixture
def place(tmp_path: Path) -> IndexPlace:
    """A folder that is not there yet."""
    return IndexPlace(str(tmp_path / "generation"), "generation-1")


@pytest.fixture
def lexical(place: IndexPlace) -> LanceLexicalIndex:
    """An empty lexical index."""
    return LanceLexicalIndex(place)


class TestOpening:
    def test_the_engine_is_imported_when_it_is_used(self) -> None:
        """The backend can be looked up, and its modules imported, without a heavy package."""
        program = (
            "import sys, clawmem.adapters.lancedb.backend\n"
            "import clawmem.adapters.lancedb.lexical_index, clawmem.adapters.lancedb.vector_index\n"
            "print({'lancedb', 'pyarrow', 'numpy', 'pydantic'} & sys.modules.keys())"
        )
        told = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
        )

        assert told.stdout == "set()\n"

    def test_a_missing_package_is_named(self, place: IndexPlace, monkeypatch: pytest.MonkeyPatch) -> None:
        """Without the package the backend says how to install it."""
        monkeypatch.setitem(sys.modules, "lancedb", None)

        with pytest.raises(BackendUnavailable, match=r"pip install '.\[lancedb\]'"):
            LanceLexicalIndex(place)

    def test_nothing_there_to_be_read(self, place: IndexPlace) -> None:
        """Opened for reading, an index that is not there is refused, and not made."""
        with pytest.raises(IndexDamaged, match="does not exist"):
            LanceLexicalIndex(place._replace(read_only=True))

        assert not Path(place.folder).exists()

    def test_no_table_to_be_read(self, place: IndexPlace) -> None:
        """The same in a folder that is there, without a table."""
        Path(place.folder).mkdir()

        with pytest.raises(IndexDamaged):
            LanceVectorIndex(place._replace(read_only=True))

    def test_reading_only(self, place: IndexPlace, lexical: LanceLexicalIndex) -> None:
        """Opened for reading it answers, and refuses every change."""
        lexical.put([entry(1, "budget")])
        reader = LanceLexicalIndex(place._replace(read_only=True))

        assert [hit.key.document_id for hit in reader.search(any_of("budget"), Grain.PASSAGE, 5)] == [1]
        for change in (
            reader.clear,
            reader.optimize,
            lambda: reader.put([entry(2, "x")]),
            lambda: reader.remove(1),
        ):
            with pytest.raises(VaultReadOnly):
                change()

    @pytest.mark.parametrize("exact_below", [0, 100])
    def test_reading_does_without_the_package(
        self, place: IndexPlace, lexical: LanceLexicalIndex, exact_below: int
    ) -> None:
        """A process that only searches imports none of the package, whoever scores, and finds what others find."""
        lexical.put([entry(1, "budget"), entry(2, "budget spring")])
        LanceVectorIndex(place).put([VectorEntry(FragmentKey(3, 0), EAST)])
        told = subprocess.run(
            [sys.executable, "-c", READ, place.folder, str(exact_below)],
            capture_output=True,
            text=True,
            check=True,
        )

        assert told.stdout.splitlines() == ["1 2", "1 2", "2", "2 1", "3 False"]

    def test_reading_without_the_compiled_module(
        self, place: IndexPlace, lexical: LanceLexicalIndex, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Where that module is not as expected, the package reads."""
        lexical.put([entry(1, "budget")])
        monkeypatch.setattr("clawmem.adapters.lancedb.quick_table._compiled_module", lambda: object())

        reader = LanceLexicalIndex(place._replace(read_only=True))

        assert type(reader._table).__module__.startswith("lancedb")
        assert reader.count(Grain.PASSAGE) == 1

    def test_a_half_made_table_is_made_anew(self, place: IndexPlace) -> None:
        """What a kill left of making the table, a folder without a version, is no obstacle."""
        Path(place.folder, f"{LanceLexicalIndex.table_name}.lance", "_versions").mkdir(parents=True)

        index = LanceLexicalIndex(place)

        index.put([entry(1, "budget")])
        assert index.count(Grain.PASSAGE) == 1

    def test_the_options_say_where(self, tmp_path: Path) -> None:
        """A ``uri`` is where generations lie by their names; what concerns the store is passed on."""
        options = {
            "uri": "s3://bucket/team/",
            "endpoint": "http://127.0.0.1:9",
            "region": "here",
            "timeout": "1.5",
        }
        store = store_of(IndexPlace(str(tmp_path), "words-7", options=options))

        assert (store.uri, store.is_remote, store.answer_within) == ("s3://bucket/team/words-7", True, 1.5)
        assert store.options["endpoint"] == options["endpoint"]
        assert (store.options["region"], store.options["allow_http"]) == ("here", "true")

    def test_a_folder_elsewhere(self, tmp_path: Path) -> None:
        """The ``uri`` may be a folder, too; the place's own stays untouched."""
        place = IndexPlace(str(tmp_path / "own"), "words-7", options={"uri": str(tmp_path / "shared")})

        LanceLexicalIndex(place).put([entry(1, "budget")])

        assert (tmp_path / "shared" / "words-7").is_dir()
        assert not (tmp_path / "own").exists()
        BACKEND.discard(place)
        assert not (tmp_path / "shared" / "words-7").exists()

    def test_discarding(self, place: IndexPlace, lexical: LanceLexicalIndex) -> None:
        """A discarded generation is gone, whatever its state; one that is not there is no error."""
        lexical.put([entry(1, "budget")])
        truncate(Path(place.folder), "*.lance/_versions/*")

        BACKEND.discard(place)
        BACKEND.discard(place)

        assert not Path(place.folder).exists()
        assert LanceLexicalIndex(place).count(Grain.PASSAGE) == 0


class TestWords:
    @pytest.mark.parametrize("exact_below", [0, 100])
    def test_the_end_of_an_identifier(self, place: IndexPlace, exact_below: int) -> None:
        """A name of several parts is found by its beginning, in a small table and by the engine's own index."""
        index = LanceLexicalIndex(place, exact_below=exact_below)
        index.put([entry(1, "st-app-14 restarted"), entry(2, "st-app-2"), entry(3, "app-14 of st")])

        hits = index.search(any_of(Term("st-app-1", prefix=True)), Grain.PASSAGE, 9)

        assert [hit.key.document_id for hit in hits] == [1]
        assert index.holding(Term("st-app", prefix=True), Grain.PASSAGE) == 2

    @pytest.mark.parametrize("exact_below", [0, 100])
    def test_a_prefix_is_one_term(self, place: IndexPlace, exact_below: int) -> None:
        """Its words together have one rarity: a rare word that begins so is not worth more than a frequent one."""
        index = LanceLexicalIndex(place, exact_below=exact_below)
        index.put([entry(number, "compact") for number in range(1, 9)])
        index.put([entry(9, "compass"), entry(10, "harbour")])

        hits = index.search(any_of(Term("comp", prefix=True)), Grain.PASSAGE, 9)

        assert [hit.key.document_id for hit in hits] == list(range(1, 10))
        assert hits[0].score == pytest.approx(hits[-1].score)

    @pytest.mark.parametrize(
        "asked", [any_of("budget"), any_of(Term("bu", prefix=True), "spring"), all_of("spring", "bumper")]
    )
    def test_small_and_large(self, place: IndexPlace, tmp_path: Path, asked: LexicalQuery) -> None:
        """Found here or by the engine, the best ones and their scores are the same, with titles and prefixes, too."""
        texts = [
            f"{'budget ' * (number % 4)}{'bumper ' * (number % 3)}spring {'filler ' * (number % 7)}"
            for number in range(1, 40)
        ]
        entries = [entry(n, text, title="spring budget" * (n % 2)) for n, text in enumerate(texts, 1)]
        found = []
        for exact_below in (0, 100):
            where = place._replace(folder=str(tmp_path / str(exact_below)))
            index = LanceLexicalIndex(where, exact_below=exact_below)
            index.put(entries)
            found.append(index.search(asked, Grain.PASSAGE, 5))

        assert [hit.key for hit in found[0]] == [hit.key for hit in found[1]] != []
        assert [hit.score for hit in found[0]] == pytest.approx([hit.score for hit in found[1]])

    @pytest.mark.parametrize("words", [WORDS_OF_A_PREFIX - 1, WORDS_OF_A_PREFIX + 20])
    def test_a_prefix_of_many_words(self, place: IndexPlace, words: int) -> None:
        """Each is found while they are no more than can be asked for one by one, the frequent ones beyond."""
        index = LanceLexicalIndex(place, exact_below=0)
        index.put([entry(number, f"b{number}") for number in range(words)])
        index.put([entry(1000 + number, "bfrequent") for number in range(50)])

        hits = index.search(any_of(Term("b", prefix=True)), Grain.PASSAGE, 1000)

        found = {hit.key.document_id for hit in hits}
        assert {1000 + number for number in range(50)} <= found
        assert len(found) - 50 == min(words, WORDS_OF_A_PREFIX - 1)

    def test_a_word_that_is_gone(self, place: IndexPlace) -> None:
        """A beginning finds only what is there now, and a word that comes back once more."""
        index = LanceLexicalIndex(place, exact_below=0)
        index.put([entry(1, "budget"), entry(2, "budapest")])
        index.remove(1)
        index.put([entry(3, "budgets"), entry(2, "prague")])

        hits = index.search(any_of(Term("bud", prefix=True)), Grain.PASSAGE, 9)

        assert [hit.key.document_id for hit in hits] == [3]
        assert index.holding(Term("bud", prefix=True), Grain.PASSAGE) == 1
        assert index.faults() == []

    def test_the_boundary_is_no_word(self, lexical: LanceLexicalIndex) -> None:
        """The sign between title and text is never found, nor does one in a text keep others from being found."""
        lexical.put([entry(1, f"spring {BOUNDARY} budget", title="harbour")])

        found = [
            lexical.search(all_of(*terms), Grain.PASSAGE, 9) for terms in ([BOUNDARY], ["spring budget"])
        ]

        assert [len(hits) for hits in found] == [0, 1]

    @pytest.mark.parametrize("term", ["x" * 41, "x" * 1000])
    def test_long_words_are_words(self, lexical: LanceLexicalIndex, term: str) -> None:
        """A word is found however long it is; the engine's own limit is 40 characters."""
        lexical.put([entry(1, f"a {term} b")])

        assert len(lexical.search(any_of(term), Grain.PASSAGE, 9)) == 1

    def test_it_ranks_like_the_reference(self, lexical: LanceLexicalIndex) -> None:
        """Over thousands of entries, changed and removed among them, the best have the reference's scores."""
        reference = MemoryLexicalIndex()
        first = made_up(range(2500), seed=1)
        changed = made_up(range(0, 2500, 9), seed=2)
        for index in (lexical, reference):
            for batch in (first[:1200], first[1200:], changed):
                with index.committing(HERE):
                    index.put(batch)
            for number in range(5, 2500, 50):
                index.remove(number)
            index.optimize()

        for question in (any_of("w1"), any_of("w2", "w30", "w111"), all_of("w1", "w7"), any_of("w400", "w3")):
            for scope in (Scope(), Scope(frozenset({"c1", "c3"}))):
                hits = lexical.search(question, Grain.PASSAGE, 40, scope)
                expected = {
                    hit.key: hit.score for hit in reference.search(question, Grain.PASSAGE, 2500, scope)
                }
                # In a larger table the engine rounds lengths, as the port allows.
                assert [hit.score for hit in hits] == pytest.approx(
                    [expected[hit.key] for hit in hits], rel=0.06
                )
                assert hits[-1].score >= 0.9 * sorted(expected.values())[-len(hits)]

    def test_what_is_not_indexed_yet_is_found(
        self, lexical: LanceLexicalIndex, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Between two rounds of upkeep new entries are found, and removed ones are not."""
        lexical.put(made_up(range(2100), seed=3))
        monkeypatch.setattr(lexical, "_maintain", lambda: None)

        lexical.put([entry(5000, "nightingale")])
        lexical.put([entry(5001, "nightingale"), entry(7, "nightingale")])
        lexical.remove(5000)

        hits = lexical.search(any_of("nightingale"), Grain.PASSAGE, 9)
        assert sorted(hit.key.document_id for hit in hits) == [7, 5001]
        assert lexical.holding(Term("nightingale"), Grain.PASSAGE) == 2


class TestNeighbours:
    @pytest.fixture
    def clustered(self) -> list[VectorEntry]:
        """3 000 vectors around 60 directions, by twelve collections."""
        dice = random.Random(4)
        centres = [[dice.gauss(0, 1) for _ in range(DIMENSIONS)] for _ in range(60)]
        return [
            VectorEntry(
                FragmentKey(number, 0), near(dice.choice(centres), dice), f"c{number % 12}", "2024-01-01"
            )
            for number in range(3000)
        ]

    @pytest.fixture
    def questions(self, clustered: list[VectorEntry]) -> list[bytes]:
        """Vectors near to some of them."""
        dice = random.Random(5)
        return [near(floats(dice.choice(clustered).vector), dice) for _ in range(25)]

    def test_partitions_miss_few(
        self, place: IndexPlace, clustered: list[VectorEntry], questions: list[bytes]
    ) -> None:
        """Where three partitions of ten are looked into, 95 of 100 true neighbours are found, with their cosines."""
        index = LanceVectorIndex(place, exact_below=1000, partition_size=64, fewest_probes=1)
        index.put(clustered)

        recalls = [recall(index, clustered, question) for question in questions]

        assert index.method == "lancedb ivf"
        assert sum(recalls) / len(recalls) >= 0.95
        vectors = {one.key: one.vector for one in clustered}
        for hit in index.search(questions[0], 10):
            assert hit.score == pytest.approx(cosine(questions[0], vectors[hit.key]), abs=1e-5)

    @pytest.mark.parametrize("exact_below", [10_000, 1000])
    def test_few_partitions_miss_none(
        self, place: IndexPlace, clustered: list[VectorEntry], questions: list[bytes], exact_below: int
    ) -> None:
        """While all partitions are looked into the answer is exact, like that of the scan."""
        index = LanceVectorIndex(place, exact_below=exact_below, partition_size=512)
        index.put(clustered)

        assert [recall(index, clustered, question) for question in questions] == [1.0] * len(questions)

    def test_a_scope_misses_none(
        self, place: IndexPlace, clustered: list[VectorEntry], questions: list[bytes]
    ) -> None:
        """Within a scope every partition is looked into, however few others are."""
        index = LanceVectorIndex(place, exact_below=1000, partition_size=64, fewest_probes=1)
        index.put(clustered)
        inside = [one for one in clustered if one.collection == "c5"]

        recalls = [recall(index, inside, question, Scope(frozenset({"c5"}))) for question in questions]

        assert recalls == [1.0] * len(questions)

    def test_all_of_it_can_be_asked_for(self, place: IndexPlace, clustered: list[VectorEntry]) -> None:
        """A limit beyond what the probed partitions hold brings the others in."""
        index = LanceVectorIndex(place, exact_below=1000, partition_size=64, fewest_probes=1)
        index.put(clustered)

        hits = index.search(clustered[0].vector, 5000)

        assert {hit.key for hit in hits} == {one.key for one in clustered}

    def test_it_grows_and_shrinks(
        self, place: IndexPlace, clustered: list[VectorEntry], questions: list[bytes]
    ) -> None:
        """Across the bound, in either direction, what is put is found and what is removed is not."""
        index = LanceVectorIndex(place, exact_below=1000, partition_size=512)
        for start in range(0, 3000, 600):
            with index.committing(HERE):
                index.put(clustered[start : start + 600])
        with index.committing(HERE):
            for number in range(500, 3000):
                index.remove(number)

        assert index.method == "lancedb exact scan"
        assert index.count() == 500
        assert [recall(index, clustered[:500], question) for question in questions] == [1.0] * len(questions)

    def test_an_emptied_index_takes_another_length(self, place: IndexPlace) -> None:
        """Once the last vector is removed the next ones decide the length, and the marker stays."""
        index = LanceVectorIndex(place)
        with index.committing(HERE):
            index.put([vector_of(1, 0, EAST)])
        index.remove(1)

        index.put([vector_of(2, 0, unit_vector(1, 2))])

        assert (index.count(), index.marker()) == (1, HERE)
        with pytest.raises(BadVector):
            index.search(EAST, 1)

    def test_two_lengths_in_one_block(self, place: IndexPlace) -> None:
        """Two batches of different lengths in the first block are refused like two in one batch."""
        index = LanceVectorIndex(place)
        with pytest.raises(BadVector), index.committing(HERE):
            index.put([vector_of(1, 0, EAST)])
            index.put([vector_of(2, 0, unit_vector(1, 2))])

        assert (index.count(), index.marker()) == (0, None)

    def test_clearing_is_seen_by_other_handles(self, place: IndexPlace) -> None:
        """Another handle sees an index that was cleared and filled with vectors of another length."""
        index, other = LanceVectorIndex(place), LanceVectorIndex(place)
        index.put([vector_of(1, 0, EAST)])
        assert other.count() == 1

        index.clear()
        assert (other.count(), other.search(EAST, 5), other.marker()) == (0, [], None)
        index.put([vector_of(2, 0, unit_vector(1, 2))])

        assert [hit.key.document_id for hit in other.search(unit_vector(1, 2), 5)] == [2]


class TestUpkeep:
    @pytest.mark.parametrize("kind", [LanceLexicalIndex, LanceVectorIndex])
    def test_commits_do_not_pile_up(
        self,
        place: IndexPlace,
        kind: Callable[[IndexPlace], LanceLexicalIndex | LanceVectorIndex],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """After a hundred commits the table is in few fragments, and versions whose time is over are gone."""
        monkeypatch.setattr(derived_index, "KEPT", timedelta(milliseconds=1))
        index = kind(place)

        for number in range(100):
            with index.committing(HERE._replace(seq=number)):
                put_one(index, number)

        folder = next(Path(place.folder).glob("*.lance"))
        assert index._table.stats()["fragment_stats"]["num_fragments"] <= derived_index.MOST_FRAGMENTS + 1
        assert len(list((folder / "_versions").glob("*.manifest"))) < 5 * derived_index.MOST_FRAGMENTS
        assert index.marker() == HERE._replace(seq=99)
        assert index.faults() == []

    def test_many_removals_in_one_block(self, lexical: LanceLexicalIndex) -> None:
        """Twenty thousand documents are removed in one commit, whether they were there or not."""
        lexical.put([entry(number, "budget") for number in range(300)])

        with lexical.committing(HERE):
            for number in range(1, 20_000):
                lexical.remove(number)

        assert (lexical.count(Grain.PASSAGE), lexical.marker()) == (1, HERE)


class TestDamage:
    @pytest.mark.parametrize("part", ["*.lance/data/*", "*.lance/_versions/*", "*.lance/_indices/*/*"])
    def test_a_broken_file(self, place: IndexPlace, lexical: LanceLexicalIndex, part: str) -> None:
        """A truncated file of whatever kind is an index that is damaged, when it is opened or asked."""
        lexical.put([entry(1, "budget")])
        truncate(Path(place.folder), part)

        with pytest.raises(IndexDamaged, match="clawmem rebuild"):
            LanceLexicalIndex(place, exact_below=0).search(any_of("budget"), Grain.PASSAGE, 5)

    def test_a_broken_table_of_vectors(self, place: IndexPlace) -> None:
        """The same of vectors; and it is named among the faults."""
        index = LanceVectorIndex(place)
        index.put([vector_of(1, 0, EAST)])
        truncate(Path(place.folder), "*.lance/data/*")

        broken = LanceVectorIndex(place)

        with pytest.raises(IndexDamaged):
            broken.search(EAST, 5)
        assert len(broken.faults()) == 1

    def test_a_deleted_folder(self, place: IndexPlace, lexical: LanceLexicalIndex) -> None:
        """A folder that goes away under an open handle is damage, not an empty answer."""
        lexical.put([entry(1, "budget")])

        BACKEND.discard(place)

        with pytest.raises(IndexDamaged):
            lexical.search(any_of("budget"), Grain.PASSAGE, 5)

    def test_a_foreign_table(self, place: IndexPlace) -> None:
        """A table of the same name that somebody else made is not used."""
        import lancedb
        import pyarrow as pa

        lancedb.connect(place.folder).create_table(
            LanceLexicalIndex.table_name, pa.table({"key": [1], "text": ["budget"]})
        )

        with pytest.raises(IndexDamaged, match="lacks the columns"):
            LanceLexicalIndex(place)

    def test_entries_that_are_there_twice(self, place: IndexPlace, lexical: LanceLexicalIndex) -> None:
        """Rows that two writers at once may leave are named among the faults: here an entry and its word."""
        lexical.put([entry(1, "budget")])
        table = lexical._table
        table.add(table.search().to_arrow())

        assert lexical.faults() == ["2 entries of the LanceDB table are there more than once."]


def made_up(numbers: Sequence[int], seed: int) -> list[LexicalEntry]:
    """An entry for each number, of words of which few are common and most are rare."""
    dice = random.Random(seed)

    def words(count: int) -> str:
        return " ".join(f"w{min(int(dice.paretovariate(0.5)), 999)}" for _ in range(count))

    return [
        entry(number, words(dice.randint(3, 30)), title=words(2), collection=f"c{number % 5}")
        for number in numbers
    ]


def near(direction: Sequence[float], dice: random.Random) -> bytes:
    """A unit vector in about that direction."""
    length = sum(number * number for number in direction) ** 0.5
    return unit_vector(*(number / length + dice.gauss(0, 0.12) for number in direction))


def floats(vector: bytes) -> list[float]:
    """The numbers of a vector."""
    from array import array

    return array("f", vector).tolist()


def recall(
    index: LanceVectorIndex, among: Sequence[VectorEntry], question: bytes, scope: Scope | None = None
) -> float:
    """Which part of the ten nearest a search finds."""
    ranked = sorted(among, key=lambda one: -cosine(question, one.vector))[:10]
    found = {hit.key for hit in index.search(question, 10, scope or Scope())}
    return len(found & {one.key for one in ranked}) / 10


def put_one(index: LanceLexicalIndex | LanceVectorIndex, number: int) -> None:
    """One entry of whichever kind."""
    if isinstance(index, LanceVectorIndex):
        index.put([vector_of(number, 0, EAST)])
    else:
        index.put([entry(number, "budget")])


def truncate(folder: Path, part: str) -> None:
    """Cut the files that match off after ten bytes."""
    files = [file for file in folder.glob(part) if file.is_file()]
    assert files
    for file in files:
        file.write_bytes(file.read_bytes()[:10])
