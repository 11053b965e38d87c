"""What is particular to the LanceDB indexes: how they scale, what they leave behind, what they make of a broken folder."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from index_vaults import truncate
from programs import run_program

from clawmem.adapters.lancedb.backend import BACKEND
from clawmem.adapters.lancedb.derived_index import store_at
from clawmem.adapters.lancedb.lexical_index import BOUNDARY, LanceLexicalIndex
from clawmem.adapters.lancedb.vector_index import LanceVectorIndex
from clawmem.contracts.samples import all_of, any_of, entry, unit_vector
from clawmem.ports.errors import IndexDamaged, VaultReadOnly
from clawmem.ports.indexes import IndexPlace
from clawmem.ports.records import Grain, LexicalEntry, LexicalQuery, Term

EAST = unit_vector(1, 0, 0)


@pytest.fixture
def lexical(place: IndexPlace) -> LanceLexicalIndex:
    """An empty lexical index."""
    return LanceLexicalIndex(place)


class TestOpening:
    def test_a_missing_package_is_named(self, place: IndexPlace) -> None:
        """Without the package the backend is known, discards folders, and says how to install it."""
        program = (
            "import sys; sys.modules['lancedb'] = None\n"
            "from clawmem.adapters.lancedb.backend import BACKEND\n"
            "from clawmem.ports.errors import ExtraMissing\n"
            "from clawmem.ports.indexes import IndexPlace\n"
            "BACKEND.discard(IndexPlace(sys.argv[1], 'words-1'))\n"
            "try: BACKEND.lexical(IndexPlace(sys.argv[1], 'words-1'))\n"
            "except ExtraMissing as error: print(error)"
        )

        assert "pip install '.[lancedb]'" in run_program(program, place.folder, timeout=60).stdout

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
            "timeout": "1500ms",
        }
        store = store_at(IndexPlace(str(tmp_path), "words-7", options=options))

        assert (store.uri, store.is_remote) == ("s3://bucket/team/words-7", True)
        assert store.options["endpoint"] == options["endpoint"]
        assert (store.options["region"], store.options["allow_http"]) == ("here", "true")
        assert store.options["timeout"] == "1500ms"

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
    def test_the_end_of_an_identifier(self, lexical: LanceLexicalIndex) -> None:
        """A name of several parts is found by its beginning."""
        lexical.put([entry(1, "st-app-14 restarted"), entry(2, "st-app-2"), entry(3, "app-14 of st")])

        hits = lexical.search(any_of(Term("st-app-1", prefix=True)), Grain.PASSAGE, 9)

        assert [hit.key.document_id for hit in hits] == [1]
        assert lexical.holding(Term("st-app", prefix=True), Grain.PASSAGE) == 2

    def test_a_prefix_is_one_term(self, lexical: LanceLexicalIndex) -> None:
        """The words that begin with a prefix have one rarity: a rare one counts no more than a frequent one."""
        lexical.put([entry(number, "compact") for number in range(1, 9)])
        lexical.put([entry(9, "compass"), entry(10, "harbour")])

        hits = lexical.search(any_of(Term("compa", prefix=True)), Grain.PASSAGE, 9)

        assert [hit.key.document_id for hit in hits] == list(range(1, 10))

    @pytest.mark.parametrize("every", [True, False])
    def test_a_long_prefix(self, lexical: LanceLexicalIndex, every: bool) -> None:
        """A prefix longer than the stored beginnings finds the words that begin with it, alone and in a phrase."""
        name = "d2f80c1b7a9e4433" + "0f1e2d3c"
        lexical.put([entry(1, f"commit {name}99"), entry(2, "commit d2f8"), entry(3, "harbour")])

        for text in (name, f"commit {name}"):
            query = LexicalQuery((Term(text, prefix=True),), every=every)
            assert [hit.key.document_id for hit in lexical.search(query, Grain.PASSAGE, 9)] == [1]

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
        monkeypatch.setattr(lexical, "_optimize_if_due", lambda: None)

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
