"""Lines that are sketched, and questions that are compared with the sketches: a made-up model, a real vault."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

import pytest
import tiny_onnx as tiny
from file_tree import FileTree
from vault_stores import retrieval_stores
from wired import embed_pending, update_collection

from clawmem.adapters.files.front_matter import parse_front_matter
from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.models.local import OnnxEmbedder, StaticWords
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.app.services.indexing.folders import Folder
from clawmem.app.services.retrieval.answer import Answer
from clawmem.app.services.retrieval.pipelines import query
from clawmem.app.services.retrieval.request import Unit, read_request
from clawmem.domain.retrieval.grains import COVERAGE, WHOLE
from clawmem.domain.retrieval.late_interaction import read_rows
from clawmem.ports.errors import EmbeddingError
from clawmem.ports.models import Sketch, Sketcher

NOTES = {
    "hive.md": "The bees left the hive.\n\nThe queen stayed.\n\nHoney was taken in May.",
    "kettle.md": "The kettle has a whistle.\n\nSteam drives the engine.",
    "thanks.md": "Thanks!\n\nThe bees are back.\n\nThanks!",
}


class Notes:
    """A vault with notes, and how it is filled."""

    def __init__(self, place: Path) -> None:
        self.vault = open_vault(str(place / "vault.sqlite"))
        self.files = FileTree()
        self.clock = ManualClock(1_750_000_000_000)

    def write(self, **notes: str) -> None:
        for path, text in notes.items():
            self.files.write(f"/notes/{path}", text.encode(), mtime_ns=self.clock.now_ms() * 1_000_000)
        update_collection(self.vault, self.files, self.clock, parse_front_matter)(Folder("notes", "/notes"))

    def ask(self, embedder: OnnxEmbedder, text: str) -> Answer:
        request = read_request(text, now_ms=self.clock.now_ms(), unit=Unit.LINE, show_all=True)
        return query(retrieval_stores(self.vault), embedder, StaticWords())(request)


@pytest.fixture(scope="module")
def transformer(tmp_path_factory: pytest.TempPathFactory) -> OnnxEmbedder:
    return tiny.install(tmp_path_factory.mktemp("models"))


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    notes = Notes(tmp_path)
    notes.write(**NOTES)
    return notes


class Counting:
    """A sketcher that remembers what it read."""

    def __init__(self, model: Sketcher, *, fails_on: str = "") -> None:
        self._model = model
        self._fails_on = fails_on
        self.fingerprint, self.dimensions = model.fingerprint, model.dimensions
        self.read: list[str] = []

    def sketch(self, texts: Sequence[str], without: Collection[str] = ()) -> list[Sketch]:
        if self._fails_on in texts:
            raise EmbeddingError("the model broke")
        self.read += texts
        return self._model.sketch(texts, without)


class TestSketching:
    def test_embedding_sketches_every_line(self, notes: Notes, transformer: OnnxEmbedder) -> None:
        """One run makes the vectors and then the sketches; a second finds nothing to do."""
        assert embed_pending(notes.vault, transformer)().sketched == 8
        assert notes.vault.sketches.waiting() == 0
        assert notes.vault.sketches.fingerprint() == transformer.fingerprint
        assert embed_pending(notes.vault, transformer)().sketched == 0

    def test_a_model_that_breaks_ends_the_run_and_says_so(
        self, notes: Notes, transformer: OnnxEmbedder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The vectors are there, the report names the trouble, and another run makes what is left."""
        broken = Counting(transformer, fails_on="The queen stayed.")
        monkeypatch.setattr(OnnxEmbedder, "sketcher", broken)
        report = embed_pending(notes.vault, transformer)()
        assert report.stopped
        assert report.error == "the model broke"
        monkeypatch.undo()

        assert embed_pending(notes.vault, transformer)().sketched == 8

    def test_a_sketch_is_the_signs_of_the_vectors(self, transformer: OnnxEmbedder) -> None:
        """The whole first, then each token that tells; a text that only has others has the whole alone."""
        (sketch, stop) = transformer.sketch(["the bees left", "the"], {"the"})
        rows, alone = read_rows(sketch, transformer.dimensions), read_rows(stop, transformer.dimensions)
        (vectors,) = transformer.token_vectors(["the bees left"])

        assert alone.words == ()
        expected = [int("".join("1" if x > 0 else "0" for x in row), 2) for row in vectors.vectors]
        told = [row for row, (start, _) in zip(expected, vectors.spans, strict=True) if start >= len("the")]
        assert rows.words == tuple(told)


class TestComparing:
    def test_lines_are_compared_by_their_sketches(self, notes: Notes, transformer: OnnxEmbedder) -> None:
        """The line that says what is asked, word by word and as a whole, is as near as can be."""
        embed_pending(notes.vault, transformer)()

        found = notes.ask(transformer, "The bees left the hive.").results

        assert (found[0].legs[COVERAGE], found[0].legs[WHOLE]) == (1.0, 1.0)
        assert found[0].document.path == "hive.md"

    def test_a_line_without_one_counts_as_the_middle(self, notes: Notes, transformer: OnnxEmbedder) -> None:
        """It is neither punished nor preferred for not having been sketched yet."""
        embed_pending(notes.vault, transformer)()
        notes.write(**{"new.md": "Bees again."})

        found = notes.ask(transformer, "The bees left the hive.").results

        legs = [(result.document.path, result.legs.get(WHOLE, 0.0)) for result in found]
        (new,) = (leg for path, leg in legs if path == "new.md")
        assert 0.0 < new < max(leg for _, leg in legs)

    def test_a_model_that_cannot_read_the_question_is_named(
        self, notes: Notes, transformer: OnnxEmbedder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The order stays what the legs made it."""
        embed_pending(notes.vault, transformer)()
        monkeypatch.setattr(OnnxEmbedder, "sketcher", Counting(transformer, fails_on="bees"))

        answer = notes.ask(transformer, "bees")

        assert answer.results
        assert "the model broke" in answer.trace.degraded["late interaction"]
