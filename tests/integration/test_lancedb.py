"""What is particular to the LanceDB indexes: how they scale, what they leave behind, what they make of a broken folder."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from programs import run_program

from clawmem.adapters.lancedb.derived_index import store_at
from clawmem.adapters.lancedb.lexical_index import LanceLexicalIndex
from clawmem.contracts.samples import any_of, entry
from clawmem.ports.errors import VaultReadOnly
from clawmem.ports.indexes import IndexPlace
from clawmem.ports.records import Grain, LexicalEntry, Term


@pytest.fixture
def lexical(place: IndexPlace) -> LanceLexicalIndex:
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

        assert "pip install './clawmem[lancedb]" in run_program(program, place.folder, timeout=60).stdout

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


class TestWords:
    def test_what_is_not_indexed_yet_is_found(
        self, lexical: LanceLexicalIndex, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Between two rounds of upkeep new entries are found, and removed ones are not."""
        with lexical.committing():
            lexical.put(made_up(range(2100), seed=3))
        monkeypatch.setattr(lexical, "_optimize", lambda table, when_due: None)

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
