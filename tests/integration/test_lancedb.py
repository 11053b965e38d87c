"""What is particular to the LanceDB indexes: how they scale, what they leave behind, what they make of a broken folder."""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from index_vaults import truncate
from programs import run_program

from clawmem.adapters.lancedb.backend import BACKEND
from clawmem.adapters.lancedb.lexical_index import LanceLexicalIndex
from clawmem.adapters.lancedb.store import store_of
from clawmem.adapters.lancedb.term_queries import WORDS_OF_A_PREFIX
from clawmem.adapters.lancedb.vector_index import LanceVectorIndex
from clawmem.adapters.lancedb.vocabulary import BOUNDARY
from clawmem.contracts.samples import all_of, any_of, entry, unit_vector
from clawmem.ports.backend import IndexPlace
from clawmem.ports.errors import BackendUnavailable, IndexDamaged, VaultReadOnly
from clawmem.ports.records import FragmentKey, Grain, LexicalEntry, LexicalQuery, Term, VectorEntry

EAST = unit_vector(1, 0, 0)

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

        assert run_program(program, timeout=60).stdout == "set()\n"

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

        told = run_program(READ, place.folder, exact_below).stdout

        assert told.splitlines() == ["1 2", "1 2", "2", "2 1", "3 False"]

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


def made_up(numbers: Sequence[int], seed: int) -> list[LexicalEntry]:
    """An entry for each number, of words of which few are common and most are rare."""
    dice = random.Random(seed)

    def words(count: int) -> str:
        return " ".join(f"w{min(int(dice.paretovariate(0.5)), 999)}" for _ in range(count))

    return [
        entry(number, words(dice.randint(3, 30)), title=words(2), collection=f"c{number % 5}")
        for number in numbers
    ]
