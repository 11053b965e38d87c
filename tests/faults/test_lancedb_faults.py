"""A store that does not answer costs some seconds and says so; a writer that is killed leaves whole commits."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from inspect import getsource
from pathlib import Path

import pytest
from object_store import ObjectStore
from programs import kill, start_program, wait_until_ready

from clawmem.adapters.lancedb import derived_index
from clawmem.adapters.lancedb.lexical_index import LanceLexicalIndex
from clawmem.adapters.lancedb.vector_index import LanceVectorIndex
from clawmem.contracts.samples import any_of, entry, unit_vector, vector_of
from clawmem.ports.errors import IndexUnavailable
from clawmem.ports.indexes import IndexPlace
from clawmem.ports.records import Grain

SLACK = 15.0  # seconds, for a busy machine
EAST = unit_vector(1, 0, 0)
DOCUMENTS = 40


@pytest.fixture
def store() -> Iterator[ObjectStore]:
    made = ObjectStore()
    yield made
    made.be("refusing")


@pytest.fixture
def place(store: ObjectStore, tmp_path: Path) -> Callable[..., IndexPlace]:
    """Makes places in one bucket."""
    options = store.options("1s")
    return lambda name="words-1": IndexPlace(str(tmp_path), name, options=options)


class TestUnreachable:
    @pytest.mark.parametrize(
        "mood",
        [
            "failing",
            pytest.param("hanging", marks=pytest.mark.slow),
            pytest.param("refusing", marks=pytest.mark.slow),
        ],
    )
    def test_every_call_says_so_in_time(
        self, store: ObjectStore, place: Callable[..., IndexPlace], monkeypatch: pytest.MonkeyPatch, mood: str
    ) -> None:
        """Reading, writing and opening raise IndexUnavailable once the time to answer is over."""
        words = LanceLexicalIndex(place())
        words.put([entry(1, "budget")])
        vectors = LanceVectorIndex(place("vectors-1"))
        vectors.put([vector_of(1, 0, EAST)])

        store.be(mood)
        monkeypatch.setattr(derived_index, "ANSWER_WITHIN", 0.5)

        for call in (
            lambda: words.search(any_of("budget"), Grain.PASSAGE, 5),
            lambda: words.put([entry(2, "budget")]),
            lambda: vectors.search(EAST, 5),
            lambda: vectors.remove(1),
            lambda: LanceLexicalIndex(place()),
        ):
            began = time.monotonic()
            with pytest.raises(IndexUnavailable, match="Try again later"):
                call()
            assert time.monotonic() - began < 1 + SLACK
        assert len(words.faults()) == 1


class TestKill:
    @pytest.mark.parametrize("kills", [2, pytest.param(10, marks=pytest.mark.slow)])
    def test_content_and_marker_agree(self, tmp_path: Path, kills: int) -> None:
        """After each kill the index holds what its marker says, nothing twice, and the next writer goes on from it."""
        chance = random.Random(8)
        seen = 0
        for _ in range(kills):
            process = start_program(WRITER, tmp_path, environ=None)
            wait_until_ready(process)
            time.sleep(0.2 + chance.random() / 2)
            said = kill(process)

            indexes = [LanceLexicalIndex(at(tmp_path, "words")), LanceVectorIndex(at(tmp_path, "vectors"))]
            for index in indexes:
                assert_whole(index)
            acknowledged = [int(line) for line in said.split()]
            reached = [marker.seq for index in indexes if (marker := index.marker())]
            assert min(reached) >= max(acknowledged, default=seen)
            seen = min(reached)

        assert seen > kills


def at(folder: Path, name: str) -> IndexPlace:
    return IndexPlace(str(folder / name), name)


def assert_whole(index: derived_index.LanceIndex) -> None:
    """What is there is what the batches up to the marker make, and sound."""
    marker = index.marker()
    expected = documents_after(marker.seq if marker else 0)
    if isinstance(index, LanceLexicalIndex):
        for grain in (Grain.LINE, Grain.DOCUMENT):
            hits = index.search(any_of("budget"), grain, 1000)
            assert sorted(hit.key.document_id for hit in hits) == expected
            assert index.count(grain) == len(expected)
    elif isinstance(index, LanceVectorIndex):
        assert sorted(hit.key.document_id for hit in index.search(EAST, 1000)) == expected
        assert index.count() == len(expected)
    assert index.faults() == []


def documents_after(batches: int) -> list[int]:
    """The documents that are there after so many batches of the writer's."""
    there: set[int] = set()
    for batch in range(1, batches + 1):
        there = there - set(removed_by(batch)) | set(put_by(batch))
    return sorted(there)


def removed_by(batch: int) -> range:
    return range(batch * 7 % DOCUMENTS, batch * 7 % DOCUMENTS + 12)


def put_by(batch: int) -> range:
    return range(batch * 7 % DOCUMENTS, batch * 7 % DOCUMENTS + 12, 1 + batch % 3)


# Goes on from the markers, as the indexer does, and says which batches are in both indexes.
WRITER = f"""
import sys
from itertools import count
from pathlib import Path
from clawmem.adapters.lancedb.lexical_index import LanceLexicalIndex
from clawmem.adapters.lancedb.vector_index import LanceVectorIndex
from clawmem.contracts.samples import entry, unit_vector, vector_of
from clawmem.ports.indexes import IndexPlace
from clawmem.ports.records import Grain, Marker

DOCUMENTS = {DOCUMENTS}
{getsource(removed_by)}{getsource(put_by)}
def apply(index, batch, put):
    marker = index.marker()
    if marker and marker.seq >= batch:
        return
    with index.committing(Marker("vault-1", batch, f"e{{batch}}")):
        for number in removed_by(batch):
            index.remove(number)
        put(index, put_by(batch))

def put_words(index, added):
    index.put([entry(n, "budget", grain=grain) for n in added for grain in (Grain.LINE, Grain.DOCUMENT)])

def put_vectors(index, added):
    index.put([vector_of(n, 0, unit_vector(1, n, 0)) for n in added])

folder = Path(sys.argv[1])
words = LanceLexicalIndex(IndexPlace(str(folder / "words"), "words"))
vectors = LanceVectorIndex(IndexPlace(str(folder / "vectors"), "vectors"))
reached = [marker.seq if (marker := index.marker()) else 0 for index in (words, vectors)]
print("ready", flush=True)
for batch in count(min(reached) + 1):
    apply(words, batch, put_words)
    apply(vectors, batch, put_vectors)
    print(batch, flush=True)
"""
