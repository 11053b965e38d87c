"""A vault whose indexes lie outside of it: what is written is found at once, and carried there afterwards."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice
from pathlib import Path

import pytest

from clawmem.adapters.files.disk import DiskFiles
from clawmem.adapters.files.front_matter import parse_yaml
from clawmem.adapters.memory.clock import START_MS, ManualClock
from clawmem.adapters.memory.embedder import HashingEmbedder
from clawmem.adapters.sqlite.vault import SqliteVault
from clawmem.adapters.system.clock import SystemClock
from clawmem.app.bootstrap.backends import backend_named
from clawmem.app.services.indexes.engines import Engines
from clawmem.app.services.indexes.indexer import Indexer
from clawmem.app.services.indexes.vault import ServedVault
from clawmem.app.services.indexing.embed import EmbedPending, EmbedReport
from clawmem.app.services.indexing.folders import Folder
from clawmem.app.services.indexing.publish import withdraw
from clawmem.app.services.indexing.update import PassReport, UpdateCollection
from clawmem.app.services.maintenance.verify import Verify
from clawmem.app.services.retrieval.answer import Answer
from clawmem.app.services.retrieval.pipelines.query import query
from clawmem.app.services.retrieval.pipelines.search import search
from clawmem.app.services.retrieval.pipelines.vsearch import vsearch
from clawmem.app.services.retrieval.request import read_request
from clawmem.ports.clock import Clock
from clawmem.ports.in_process import is_in_process
from clawmem.ports.records import Grain, InactiveReason, Role, Vector

HOUR_NS = 3_600_000_000_000
VERBS = ("search", "vsearch", "query")
STORIES = {
    "kettle.md": "The kettle whistles in C sharp. Descale it with vinegar.\n",
    "ferry.md": "The ferry leaves at dawn and takes bicycles.\n",
    "orchard.md": "Pears ripen in the orchard behind the mill.\n",
    "lantern.md": "A lantern hangs in the harbour, green for starboard.\n",
    "quarry.md": "Granite from the quarry paves the market square.\n",
    "saddle.md": "The saddle was stitched by a cobbler in Lisbon.\n",
}
VECTORS = 2 * len(STORIES)  # of each the whole, and its only passage
ASKED = {
    "descale the kettle with vinegar": "kettle.md",
    "when does the ferry leave": "ferry.md",
    "pears in the orchard": "orchard.md",
    "a green lantern in the harbour": "lantern.md",
    "granite of the market square": "quarry.md",
    "a saddle stitched in Lisbon": "saddle.md",
}


class Wide(HashingEmbedder):
    """Another model, whose vectors are twice as long."""

    fingerprint = "hashing-twice"
    dimensions = 2 * HashingEmbedder.dimensions

    def embed_query(self, text: str) -> Vector:
        return super().embed_query(text) + bytes(4 * HashingEmbedder.dimensions)


class Shelf:
    """A folder of notes, and a vault over it that can be opened several times."""

    def __init__(self, place: Path) -> None:
        self.root = place / "notes"
        self.file = place / "vault.sqlite"
        self.indexes = place / "vault.sqlite.indexes"
        self.clock: Clock = ManualClock()
        self.embedder = HashingEmbedder()
        self._opened: list[ServedVault] = []
        self.records, self.vault = self.open()

    def open(self, *, read_only: bool = False) -> tuple[SqliteVault, ServedVault]:
        """Another handle: the records, and what serves them."""
        records = SqliteVault(str(self.file), read_only=read_only)
        engines = Engines(backend_named, str(self.indexes), read_only=read_only)
        vault = ServedVault(records, engines, Indexer(records, self.clock, f"holder {len(self._opened)}"))
        self._opened.append(vault)
        return records, vault

    def close(self) -> None:
        for vault in self._opened:
            vault.close()

    # -- use cases ----------------------------------------------------------------------------------

    def write(self, texts: Mapping[str, str]) -> PassReport:
        """Put files there, and take them in."""
        for path, text in texts.items():
            file = self.root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
            os.utime(file, ns=(0, START_MS * 1_000_000 - 2 * HOUR_NS))
        return self.update()

    def update(self) -> PassReport:
        folder = Folder("notes", str(self.root))
        return UpdateCollection(self.vault, DiskFiles(), self.clock, parse_yaml)(folder)

    def embed(self, *, force: bool = False) -> EmbedReport:
        return EmbedPending(self.vault, self.embedder)(force=force)

    def withdraw(self, path: str) -> None:
        with self.vault.writing():
            withdraw(self.vault, [self.id(path)], InactiveReason.FORGOTTEN)

    def verify(self) -> list[str]:
        folder = Folder("notes", str(self.root))
        return Verify(self.vault, DiskFiles(), [folder], parse_yaml, self.clock)()

    # -- looking ------------------------------------------------------------------------------------

    def ask(self, text: str, verb: str = "search", vault: ServedVault | None = None) -> Answer:
        asked = vault or self.vault
        request = read_request(text, now_ms=self.clock.now_ms(), limit=3)
        if verb == "search":
            return search(asked)(request)
        return {"vsearch": vsearch, "query": query}[verb](asked, self.embedder)(request)

    def first(self, text: str, verb: str = "search", vault: ServedVault | None = None) -> str | None:
        """Where the best answer lies; fails if anything was missing when it was looked for."""
        answer = self.ask(text, verb, vault)
        assert answer.trace.degraded == {}, answer.trace.degraded
        return answer.results[0].document.path if answer.results else None

    def firsts(self, verb: str, vault: ServedVault | None = None) -> dict[str, str | None]:
        """The best answer to every question of `ASKED`."""
        return {text: self.first(text, verb, vault) for text in ASKED}

    def id(self, path: str) -> int:
        document = self.vault.documents.at("notes", path)
        assert document is not None, path
        return document.id

    def lag(self, index: str = "lexical") -> int:
        """How many changes an index outside has not seen."""
        marker = (self.vault.lexical if index == "lexical" else self.vault.vectors).marker()
        assert marker is not None
        return self.vault.outbox.head().seq - marker.seq

    def kept(self) -> int:
        """How many changes are still written down."""
        return int(self.records._db.value("select count(*) from outbox"))

    def own_words(self) -> int:
        """How many entries the vault's own table of words holds."""
        return sum(self.records.lexical.count(grain) for grain in Grain)

    def folders(self) -> list[str]:
        """The indexes on the disk."""
        return sorted(path.name for path in self.indexes.glob("*"))


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    made = Shelf(tmp_path)
    yield made
    made.close()


@pytest.fixture
def outside(shelf: Shelf) -> Shelf:
    """The stories, embedded, with their words in tantivy."""
    shelf.write(STORIES)
    shelf.embed()
    shelf.vault.move("tantivy")
    return shelf


class TestWriting:
    def test_found_at_once_and_carried_afterwards(self, outside: Shelf) -> None:
        """What is new is found before any index outside has seen it, and lies there alone when it has."""
        before = {grain: outside.vault.lexical.count(grain) for grain in Grain}

        outside.write({"comet.md": "A comet was seen over the quarry.\n"})
        at_once = outside.first("comet"), outside.lag(), outside.own_words()
        outside.vault.keep_up()

        assert at_once[0] == outside.first("comet") == "comet.md"
        assert at_once[1] > 0
        assert at_once[2] > 0
        assert outside.lag() == outside.own_words() == 0
        assert outside.kept() == 1
        assert outside.vault.lexical.count(Grain.DOCUMENT) == before[Grain.DOCUMENT] + 1
        assert outside.verify() == []

    def test_everything_that_was_there_is_outside(self, outside: Shelf) -> None:
        """After moving, the vault's own table is empty and nothing is left to carry."""
        assert outside.vault.info().lexical_method == "tantivy"
        assert (outside.own_words(), outside.lag(), outside.kept()) == (0, 0, 1)
        assert outside.firsts("search") == ASKED
        assert (is_in_process(outside.vault.lexical), is_in_process(outside.vault.vectors)) == (False, True)

    def test_questions_read_the_latest_state(self, outside: Shelf) -> None:
        """An external index changes on its own, so that a block of reads sees changes of the records as well."""
        records, _ = outside.open()
        with outside.vault.reading():
            before = outside.vault.outbox.head()
            records.documents.deactivate([1], InactiveReason.REMOVED)

            assert outside.vault.outbox.head() != before

    def test_edited(self, outside: Shelf) -> None:
        """A document is found by its new words alone, before it is carried and after."""
        outside.write({"kettle.md": "The samovar hums.\n"})
        at_once = outside.first("samovar"), outside.ask("vinegar").results
        outside.vault.keep_up()

        assert at_once == ("kettle.md", ())
        assert outside.first("samovar") == "kettle.md"
        assert outside.ask("vinegar").results == ()
        assert outside.verify() == []

    def test_withdrawn(self, outside: Shelf) -> None:
        """What was withdrawn is found by nothing, before it is taken out of the indexes and after."""
        held = outside.vault.lexical.count(Grain.DOCUMENT)

        outside.withdraw("kettle.md")
        at_once = [outside.ask("kettle vinegar", verb).results for verb in VERBS]
        outside.vault.keep_up()

        for results in (*at_once, *(outside.ask("kettle vinegar", verb).results for verb in VERBS)):
            assert "kettle.md" not in {result.document.path for result in results}
        assert outside.vault.lexical.count(Grain.DOCUMENT) == held - 1
        assert outside.verify() == []

    def test_a_file_that_came_back(self, outside: Shelf) -> None:
        """Removed and put back between two rounds, it is found as if nothing had happened."""
        text = (outside.root / "kettle.md").read_text("utf-8")
        (outside.root / "kettle.md").unlink()
        outside.update()
        gone = outside.ask("kettle vinegar").results
        outside.write({"kettle.md": text})
        at_once = outside.first("kettle vinegar")
        outside.vault.keep_up()

        assert gone == ()
        assert at_once == outside.first("kettle vinegar") == "kettle.md"
        assert outside.verify() == []

    def test_a_transaction_that_fails(self, outside: Shelf) -> None:
        """Nothing of it is found, written down or carried."""
        head = outside.vault.outbox.head()

        with pytest.raises(KeyboardInterrupt), outside.vault.writing():
            withdraw(outside.vault, [outside.id("kettle.md")], InactiveReason.FORGOTTEN)
            raise KeyboardInterrupt
        outside.vault.keep_up()

        assert outside.vault.outbox.head() == head
        assert outside.first("kettle vinegar") == "kettle.md"

    def test_many_changes_are_carried_by_the_way(
        self, outside: Shelf, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Once more changes wait than may, the transaction that made them takes them along."""
        monkeypatch.setattr("clawmem.app.services.indexes.vault.LAG", 3)

        outside.write({f"{n}.md": f"Page {n} of the almanac.\n" for n in range(2)})
        few = outside.lag()
        outside.write({f"more/{n}.md": f"Leaf {n} of the almanac.\n" for n in range(3)})

        assert few == 2
        assert outside.lag() == outside.own_words() == 0
        assert outside.vault.lagging == {}
        assert len(outside.ask("almanac").results) == 3

    def test_batches(self, outside: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
        """More changes than one commit takes are carried in several, and all of them arrive."""
        monkeypatch.setattr("clawmem.app.services.indexes.indexer.BATCH", 2)

        outside.write({f"{n}.md": f"Page {n} of the almanac.\n" for n in range(7)})
        outside.vault.keep_up()

        assert (outside.lag(), outside.own_words(), outside.kept()) == (0, 0, 1)
        assert outside.verify() == []

    def test_while_another_process_indexes(self, outside: Shelf) -> None:
        """Without the lease nothing is carried, nothing fails, and everything is found."""
        lease = outside.vault.leases.acquire(
            f"index {Role.LEXICAL}", "somebody else", now_ms=START_MS, ttl_ms=60_000
        )
        assert lease is not None

        outside.write({"comet.md": "A comet was seen over the quarry.\n"})
        outside.vault.keep_up()
        waiting = outside.lag()
        found = outside.first("comet")
        outside.vault.leases.release(lease)
        outside.vault.keep_up()

        assert (waiting, found) == (1, "comet.md")
        assert outside.lag() == 0

    def test_in_lancedb(self, shelf: Shelf) -> None:
        """Words and vectors in LanceDB: what is new is found by all three, at once and afterwards."""
        shelf.write(STORIES)
        shelf.embed()
        shelf.vault.move("lancedb")
        moved = shelf.vault.vectors.count(), shelf.records.vectors.count(), shelf.own_words()

        shelf.write({"comet.md": "A comet was seen over Lisbon.\n"})
        shelf.embed()
        shelf.withdraw("ferry.md")
        at_once = [shelf.first("a comet seen over Lisbon", verb) for verb in VERBS]
        lag = shelf.lag(), shelf.lag("vectors")
        shelf.vault.keep_up()

        assert moved == (shelf.vault.vectors.count(), 0, 0)
        assert (
            at_once == [shelf.first("a comet seen over Lisbon", verb) for verb in VERBS] == ["comet.md"] * 3
        )
        assert min(lag) > 0
        assert (shelf.lag(), shelf.lag("vectors"), shelf.own_words(), shelf.kept()) == (0, 0, 0, 1)
        assert shelf.verify() == []


class TestChoiceOfVectors:
    @pytest.fixture(autouse=True)
    def small_bounds(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("clawmem.domain.maintenance.index_choice.SIDECAR_FROM", VECTORS)
        monkeypatch.setattr("clawmem.domain.maintenance.index_choice.SIDECAR_UNTIL", VECTORS // 2)

    def test_sidecar_from_the_bound_on(self, shelf: Shelf) -> None:
        """At the bound the vectors move out of the vault's own table, which is dropped, and answers stay."""
        *most, last = STORIES.items()
        shelf.write(dict(most))
        shelf.embed()
        shelf.vault.keep_up()
        below = shelf.vault.info().vector_method

        shelf.write(dict([last]))
        shelf.embed()
        before = shelf.firsts("vsearch")
        shelf.vault.keep_up()

        assert below == "vec0"
        assert shelf.vault.info().vector_method == "sidecar, exact"
        assert shelf.vault.backend == "sqlite"
        assert (shelf.vault.vectors.count(), shelf.records.vectors.count()) == (VECTORS, 0)
        assert shelf.firsts("vsearch") == before == ASKED
        assert shelf.verify() == []

    def test_left_below_the_lower_bound(self, shelf: Shelf) -> None:
        """Between the bounds nothing changes; below the lower one the vault's own table is filled again."""
        shelf.write(STORIES)
        shelf.embed()
        shelf.vault.keep_up()
        for path in ("ferry.md", "orchard.md", "lantern.md"):
            shelf.withdraw(path)
        shelf.vault.keep_up()
        between = shelf.vault.info().vector_method, shelf.vault.vectors.count()

        shelf.withdraw("saddle.md")
        shelf.vault.keep_up()

        assert between == ("sidecar, exact", VECTORS // 2)
        assert shelf.vault.info().vector_method == "vec0"
        assert shelf.records.vectors.count() == shelf.vault.vectors.count() == 4
        assert (shelf.folders(), list(shelf.vault.outbox.indexes()), shelf.kept()) == ([], [], 0)
        assert shelf.first("descale the kettle with vinegar", "vsearch") == "kettle.md"
        assert shelf.verify() == []

    def test_new_vectors_are_found_at_once(self, shelf: Shelf) -> None:
        """What was embedded since the sidecar's last commit is compared with the records' own vectors."""
        shelf.write(STORIES)
        shelf.embed()
        shelf.vault.keep_up()

        shelf.write({"comet.md": "A comet was seen over the hills.\n"})
        shelf.embed()
        shelf.withdraw("kettle.md")
        at_once = shelf.first("a comet seen over the hills", "vsearch")
        gone = shelf.ask("descale the kettle with vinegar", "vsearch").results
        shelf.vault.keep_up()

        assert at_once == shelf.first("a comet seen over the hills", "vsearch") == "comet.md"
        assert "kettle.md" not in {result.document.path for result in gone}
        assert shelf.verify() == []

    def test_beside_another_backend(self, outside: Shelf) -> None:
        """Where words are kept by tantivy, vectors still choose for themselves, and the backend stays."""
        outside.vault.keep_up()

        info = outside.vault.info()
        assert (info.backend, info.lexical_method, info.vector_method) == (
            "tantivy",
            "tantivy",
            "sidecar, exact",
        )
        assert outside.firsts("query") == ASKED
        assert outside.verify() == []


class TestAnotherModel:
    @pytest.fixture(params=["sidecar", "lancedb"])
    def embedded(
        self, shelf: Shelf, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
    ) -> Shelf:
        """The stories, with vectors outside of the vault."""
        shelf.write(STORIES)
        shelf.embed()
        if request.param == "sidecar":
            monkeypatch.setattr("clawmem.domain.maintenance.index_choice.SIDECAR_FROM", VECTORS)
            monkeypatch.setattr("clawmem.domain.maintenance.index_choice.SIDECAR_UNTIL", VECTORS // 2)
            shelf.vault.keep_up()
        else:
            shelf.vault.move("lancedb")
        assert shelf.vault.info().vector_method.startswith(request.param)
        return shelf

    def test_of_other_dimensions(self, embedded: Shelf) -> None:
        """Everything is embedded anew, answered from the records meanwhile, and then by an index of new length."""
        method = embedded.vault.info().vector_method
        embedded.embedder = Wide()

        report = embedded.embed(force=True)
        meanwhile = embedded.ask("a saddle stitched in Lisbon", "vsearch")
        embedded.vault.keep_up()

        assert report.embedded == len(STORIES)
        assert [result.document.path for result in meanwhile.results][:1] == ["saddle.md"]
        assert embedded.vault.info().vector_method == method
        assert embedded.vault.vectors.count() == VECTORS
        assert embedded.firsts("vsearch") == ASKED
        assert embedded.verify() == []

    def test_of_the_same_dimensions(self, embedded: Shelf) -> None:
        """Embedding anew with the same model changes no answer."""
        embedded.embed(force=True)
        embedded.vault.keep_up()

        assert embedded.vault.vectors.count() == VECTORS
        assert embedded.firsts("vsearch") == ASKED
        assert embedded.verify() == []


class TestReadOnly:
    def test_with_a_lag(self, outside: Shelf) -> None:
        """A vault opened for reading finds what no index has seen, and carries nothing."""
        outside.write({"comet.md": "A comet was seen over the quarry.\n"})
        outside.withdraw("kettle.md")
        lag = outside.lag()

        _, reader = outside.open(read_only=True)

        assert outside.first("comet", vault=reader) == "comet.md"
        assert outside.ask("kettle vinegar", vault=reader).results == ()
        assert reader.info().read_only
        assert reader.info().lexical_method == "tantivy"
        assert outside.lag() == lag > 0

    def test_sees_what_others_carry(self, outside: Shelf) -> None:
        """It follows when another handle writes, carries, and moves the indexes elsewhere."""
        _, reader = outside.open(read_only=True)
        before = outside.firsts("search", reader)

        outside.write({"comet.md": "A comet was seen over the quarry.\n"})
        outside.vault.keep_up()
        carried = outside.first("comet", vault=reader)
        outside.vault.move("sqlite")
        moved = outside.first("comet", vault=reader), reader.backend

        assert before == ASKED
        assert carried == "comet.md"
        assert moved == ("comet.md", "sqlite")

    def test_where_the_index_is_gone(self, outside: Shelf) -> None:
        """It answers with what is left, says so, and makes nothing."""
        for path in sorted(outside.indexes.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        _, reader = outside.open(read_only=True)

        answer = outside.ask("descale the kettle with vinegar", "query", reader)

        assert answer.trace.degraded.keys() == {"lexical"}
        assert answer.results[0].document.path == "kettle.md"
        assert outside.folders() == []


class TestThreads:
    MOVES = (("migrate", "--to", "tantivy"), ("rebuild",), ("migrate", "--to", "sqlite"))
    THREADS = 4

    def test_while_another_process_moves_the_indexes(
        self, shelf: Shelf, environ: dict[str, str], home: Path
    ) -> None:
        """Threads that share one vault get every answer, whole, whichever generation serves at that moment."""
        shelf.clock = SystemClock()
        shelf.write(STORIES)
        shelf.embed()
        command = [sys.executable, "-c", RUN_ALL, str(shelf.file), *(" ".join(move) for move in self.MOVES)]

        with (
            subprocess.Popen(command, cwd=home, env=environ, stderr=subprocess.PIPE, text=True) as mover,
            ThreadPoolExecutor(self.THREADS) as pool,
        ):
            asked = [pool.submit(self.ask_until_it_ends, shelf, mover, n) for n in range(self.THREADS)]
            complaints = mover.stderr.read() if mover.stderr else ""
        answers = sum((future.result() for future in asked), Counter[tuple[str, str, str | None]]())

        assert (mover.returncode, complaints) == (0, "")
        assert {(text, first) for text, _, first in answers} == set(ASKED.items())
        assert {backend for _, backend, _ in answers} == {"sqlite", "tantivy"}
        assert shelf.vault.backend == "sqlite"
        assert list(shelf.vault.outbox.indexes()) == []
        shelf.vault.generations.tidy()  # a question may have opened one that had just been deleted
        assert shelf.folders() == []
        assert shelf.verify() == []

    @staticmethod
    def ask_until_it_ends(
        shelf: Shelf, mover: subprocess.Popen[str], number: int
    ) -> Counter[tuple[str, str, str | None]]:
        """Ask one question after the other: which was answered by which backend, and how, how often."""
        answers: Counter[tuple[str, str, str | None]] = Counter()
        questions = islice(cycle(ASKED), number, None)
        while mover.poll() is None or len(answers) < len(ASKED):
            text = next(questions)
            answers[text, shelf.vault.backend, shelf.first(text)] += 1
        return answers


# One process for all of them: what takes long is its start.
RUN_ALL = """
import sys
from clawmem.app.interfaces.cli.command_line import cli
_, vault, *commands = sys.argv
for command in commands:
    try:
        cli(["--vault", vault, *command.split()])
    except SystemExit as left:
        if left.code:
            raise
"""
