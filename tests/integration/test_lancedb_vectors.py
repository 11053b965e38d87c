"""The vectors of LanceDB, its maintenance and its damage."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from index_vaults import truncate

from clawmem.adapters.lancedb import derived_index
from clawmem.adapters.lancedb.lexical_index import LanceLexicalIndex
from clawmem.adapters.lancedb.vector_index import LanceVectorIndex
from clawmem.contracts.samples import any_of, cosine, entry, unit_vector, vector_of
from clawmem.ports.errors import IndexDamaged
from clawmem.ports.indexes import IndexPlace
from clawmem.ports.records import FragmentKey, Grain, Marker, Scope, VectorEntry

HERE = Marker("vault-1", 7, "e7")
EAST = unit_vector(1, 0, 0)
DIMENSIONS = 16


@pytest.fixture
def lexical(place: IndexPlace) -> LanceLexicalIndex:
    return LanceLexicalIndex(place)


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

    def test_a_scope_misses_none(
        self, place: IndexPlace, clustered: list[VectorEntry], questions: list[bytes]
    ) -> None:
        """Within a scope every partition is looked into, however few others are."""
        index = small_index(place, exact_below=1000, partition_size=64, fewest_probes=1)
        index.put(clustered)
        inside = [one for one in clustered if one.collection == "c5"]

        recalls = [recall(index, inside, question, Scope(frozenset({"c5"}))) for question in questions]

        assert recalls == [1.0] * len(questions)

    def test_it_grows_and_shrinks(
        self, place: IndexPlace, clustered: list[VectorEntry], questions: list[bytes]
    ) -> None:
        """Across the bound, in either direction, what is put is found and what is removed is not."""
        index = small_index(place, exact_below=1000, partition_size=512)
        for start in range(0, 3000, 600):
            with index.committing(HERE):
                index.put(clustered[start : start + 600])
        with index.committing(HERE):
            for number in range(500, 3000):
                index.remove(number)

        assert index.count() == 500
        assert [recall(index, clustered[:500], question) for question in questions] == [1.0] * len(questions)


class TestUpkeep:
    @pytest.mark.parametrize(
        "kind", [LanceLexicalIndex, pytest.param(LanceVectorIndex, marks=pytest.mark.slow)]
    )
    def test_commits_do_not_pile_up(
        self,
        place: IndexPlace,
        kind: Callable[[IndexPlace], LanceLexicalIndex | LanceVectorIndex],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """After a hundred commits the table is in few fragments, and versions whose time is over are gone."""
        monkeypatch.setattr(derived_index, "KEEP_VERSIONS", timedelta(milliseconds=1))
        index = kind(place)

        for number in range(100):
            with index.committing(HERE._replace(seq=number)):
                put_one(index, number)

        folder = next(Path(place.folder).glob("*.lance"))
        assert index._table.stats()["fragment_stats"]["num_fragments"] <= derived_index.MOST_FRAGMENTS + 1
        assert len(list((folder / "_versions").glob("*.manifest"))) < 5 * derived_index.MOST_FRAGMENTS
        assert index.marker() == HERE._replace(seq=99)
        assert index.faults() == []


class TestDamage:
    @pytest.mark.parametrize("part", ["*.lance/data/*", "*.lance/_versions/*", "*.lance/_indices/*/*"])
    def test_a_broken_file(self, place: IndexPlace, lexical: LanceLexicalIndex, part: str) -> None:
        """A truncated file of whatever kind is an index that is damaged, when it is opened or asked."""
        lexical.put([entry(1, "budget")])
        truncate(Path(place.folder), part)

        with pytest.raises(IndexDamaged, match="clawmem rebuild"):
            LanceLexicalIndex(place).search(any_of("budget"), Grain.PASSAGE, 5)

    def test_entries_that_are_there_twice(self, place: IndexPlace, lexical: LanceLexicalIndex) -> None:
        """Rows that two writers at once may leave are named among the faults."""
        lexical.put([entry(1, "budget")])
        table = lexical._table
        table.add(table.search().to_arrow())

        assert lexical.faults() == ["1 entries of the LanceDB table are there more than once."]


def small_index(place: IndexPlace, **sizes: int) -> LanceVectorIndex:
    """An index that uses partitions for fewer vectors."""
    return type("SmallIndex", (LanceVectorIndex,), sizes)(place)


def near(direction: Sequence[float], dice: random.Random) -> bytes:
    """A unit vector in about that direction."""
    length = sum(number * number for number in direction) ** 0.5
    return unit_vector(*(number / length + dice.gauss(0, 0.12) for number in direction))


def floats(vector: bytes) -> list[float]:
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
    if isinstance(index, LanceVectorIndex):
        index.put([vector_of(number, 0, EAST)])
    else:
        index.put([entry(number, "budget")])
