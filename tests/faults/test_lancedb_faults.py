"""A store that does not answer costs some seconds and says so; a writer that is killed leaves whole commits."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any
from urllib.request import Request, urlopen
from uuid import uuid4

import pytest
from programs import kill, start_program, wait_until_ready

from clawmem.adapters.lancedb.lexical_index import LanceLexicalIndex
from clawmem.adapters.lancedb.vector_index import LanceVectorIndex
from clawmem.contracts.samples import any_of, entry, unit_vector, vector_of
from clawmem.ports.errors import IndexUnavailable
from clawmem.ports.indexes import IndexPlace
from clawmem.ports.records import Grain, Marker

if TYPE_CHECKING:
    from clawmem.adapters.lancedb.derived_index import LanceIndex

SLACK = 15.0  # seconds, for a busy machine
EAST = unit_vector(1, 0, 0)
HERE, LATER = Marker("vault-1", 7, "e7"), Marker("vault-1", 8, "e8")
DOCUMENTS = 40


class Gate:
    """An object store on loopback behind a gate that is open, hangs, or fails whoever comes."""

    def __init__(self) -> None:
        from moto.server import DomainDispatcherApplication, create_backend_app
        from werkzeug.serving import make_server

        self.mood = "open"
        self._store = DomainDispatcherApplication(create_backend_app)
        self._released = Event()
        self._server = make_server("127.0.0.1", 0, self._answer, threaded=True)
        self._server.daemon_threads = True
        self._thread = Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self.endpoint = f"http://127.0.0.1:{self._server.server_port}"
        self.bucket = uuid4().hex  # the store is one for the whole process
        urlopen(Request(f"{self.endpoint}/{self.bucket}", method="PUT")).close()

    def turn(self, mood: str) -> None:
        """Be ``open``, ``hanging``, ``failing`` or, for good, ``refusing``."""
        self.mood = mood
        if mood == "refusing":
            self.close()

    def close(self) -> None:
        """Let go of those who hang, and refuse connections from now on."""
        self._released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _answer(self, environ: dict[str, Any], start: Callable[..., object]) -> Any:
        if self.mood == "open":
            return self._store(environ, start)
        if self.mood == "hanging":
            self._released.wait(60)
        start("500 Internal Server Error", [("Content-Length", "0")])
        return [b""]


@pytest.fixture
def gate() -> Iterator[Gate]:
    """An open gate with an empty bucket behind it."""
    pytest.importorskip("moto.server", reason="needs an S3 server: pip install 'moto[server]'")
    made = Gate()
    yield made
    if made.mood != "refusing":
        made.close()


@pytest.fixture
def place(gate: Gate, tmp_path: Path) -> Callable[..., IndexPlace]:
    """Makes places behind the gate."""

    def place(name: str = "words-1", **options: str) -> IndexPlace:
        store = {
            "uri": f"s3://{gate.bucket}/indexes",
            "endpoint": gate.endpoint,
            "region": "us-east-1",
            "access_key_id": "anyone",
            "secret_access_key": "anything",
        }
        return IndexPlace(str(tmp_path), name, options=store | options)

    return place


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
        self, gate: Gate, place: Callable[..., IndexPlace], mood: str
    ) -> None:
        """Reading, writing and opening raise IndexUnavailable once the time to answer is over."""
        words = LanceLexicalIndex(place(timeout="1s"))
        words.put([entry(1, "budget")])
        vectors = LanceVectorIndex(place("vectors-1", timeout="1s"))
        vectors.put([vector_of(1, 0, EAST)])

        gate.turn(mood)

        for call in (
            lambda: words.search(any_of("budget"), Grain.PASSAGE, 5),
            lambda: words.put([entry(2, "budget")]),
            lambda: vectors.search(EAST, 5),
            lambda: vectors.remove(1),
            lambda: LanceLexicalIndex(place(timeout="1s")),
        ):
            began = time.monotonic()
            with pytest.raises(IndexUnavailable, match="Try again later"):
                call()
            assert time.monotonic() - began < 1 + SLACK
        assert len(words.faults()) == 1

    def test_it_comes_back(self, gate: Gate, place: Callable[..., IndexPlace]) -> None:
        """When the store answers again the same handle does, without the commit that failed, which can be repeated."""
        words = LanceLexicalIndex(place(timeout="1s"))
        with words.committing(HERE):
            words.put([entry(1, "budget")])
        gate.turn("failing")
        with pytest.raises(IndexUnavailable), words.committing(LATER):
            words.put([entry(2, "budget")])

        gate.turn("open")

        assert (found(words), words.marker()) == ([1], HERE)
        with words.committing(LATER):
            words.put([entry(2, "budget")])
        assert (found(words), words.marker()) == ([1, 2], LATER)


@pytest.mark.skipif(sys.platform == "win32", reason="signals are another matter there")
class TestKill:
    @pytest.mark.parametrize("kills", [2, pytest.param(10, marks=pytest.mark.slow)])
    def test_content_and_marker_agree(self, tmp_path: Path, kills: int) -> None:
        """After each kill the index holds what its marker says, nothing twice, and the next writer goes on from it."""
        chance = random.Random(8)
        seen = 0
        for _ in range(kills):
            process = start_program(WRITER, tmp_path, environ=None)
            wait_until_ready(process)
            time.sleep(0.2 + chance.random())
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


def assert_whole(index: LanceIndex) -> None:
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


def found(words: LanceLexicalIndex) -> list[int]:
    return sorted(hit.key.document_id for hit in words.search(any_of("budget"), Grain.PASSAGE, 9))


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

def changes(batch):
    first = batch * 7 % DOCUMENTS
    return range(first, first + 12), range(first, first + 12, 1 + batch % 3)

def apply(index, batch, put):
    marker = index.marker()
    if marker and marker.seq >= batch:
        return
    removed, added = changes(batch)
    with index.committing(Marker("vault-1", batch, f"e{{batch}}")):
        for number in removed:
            index.remove(number)
        put(index, added)

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
