"""Embedding that was stopped, with models that fail, and what goes on afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from embedding_shelf import MODELS, OLD, Shelf, Turned, stopped
from notes_vault import ASKED, STORIES, UnreachableEmbedder, WideEmbedder
from wired import embed_pending

from clawmem.adapters.memory.models import HashingEmbedder
from clawmem.app.services.indexing.embed import EmbedReport
from clawmem.app.services.indexing.serving_embedder import ServingEmbedder
from clawmem.ports.errors import EmbeddingError, ModelMismatch
from clawmem.ports.indexes import EmbeddingCounts
from clawmem.ports.records import Vector


class Picky(Turned):
    """Cannot read some texts."""

    def __init__(self, *words: str) -> None:
        self._words = words

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        if any(word in text for word in self._words for text in texts):
            raise EmbeddingError("It makes no sense.")
        return super().embed_documents(texts)


class TestStoppedAndGoneOn:
    @pytest.mark.parametrize("at", range(len(STORIES)))
    def test_goes_on_where_it_was(self, shelf: Shelf, at: int) -> None:
        """Whenever it was stopped, the older vectors are whole, and no text is embedded twice."""
        stopped(shelf, at)
        assert shelf.serving() == (OLD, "hashing-turned")
        assert shelf.vault.embeddings.counts() == EmbeddingCounts(stored=len(STORIES))
        assert shelf.firsts() == ASKED

        assert shelf.embed(Turned()) == EmbedReport(embedded=len(STORIES) - at, replaced=OLD)
        shelf.assert_whole("hashing-turned")

    def test_back_to_the_first(self, shelf: Shelf) -> None:
        """Choosing the model that serves again gives up what was begun, and its vectors go."""
        stopped(shelf, 3)

        assert shelf.embed(HashingEmbedder()) == EmbedReport()

        shelf.assert_whole(OLD)

    def test_a_third_model(self, shelf: Shelf) -> None:
        """A model that is chosen while another's vectors are made takes over from the first, directly."""
        stopped(shelf, 3)

        report = shelf.embed(WideEmbedder())

        assert (report.embedded, report.replaced) == (len(STORIES), OLD)
        shelf.assert_whole(WideEmbedder.fingerprint)

    def test_there_and_back_again(self, kept: Shelf) -> None:
        """Every change of model is complete in itself."""
        for model in (WideEmbedder(), Turned(), HashingEmbedder()):
            kept.embed(model)
            kept.indexes.keep_up()
            kept.assert_whole(model.fingerprint)

    def test_the_same_model_anew(self, kept: Shelf) -> None:
        """By force it makes every vector again, beside the old ones, which answer until then."""
        answers: list[dict[str, str]] = []

        class RecordingEmbedder(HashingEmbedder):
            def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
                answers.append(kept.firsts())
                return super().embed_documents(texts)

        report = kept.embed(RecordingEmbedder(), force=True)
        kept.indexes.keep_up()

        assert (report.embedded, report.replaced) == (len(STORIES), OLD)
        assert answers == [ASKED] * len(STORIES)
        kept.assert_whole(OLD)

    def test_somebody_else_was_faster(self, shelf: Shelf) -> None:
        """A run that finds its work done by another process ends well."""
        other = shelf.open()

        class Overtaken(Turned):
            def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
                embed_pending(other, Turned())()
                return super().embed_documents(texts)

        report = shelf.embed(Overtaken())

        assert (report.stopped, report.error) == (False, None)
        shelf.assert_whole("hashing-turned")

    def test_somebody_else_began_another(self, shelf: Shelf) -> None:
        """A run whose place was taken by a third model's ends, and says so."""
        other = shelf.open()

        class Displaced(Turned):
            def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
                other.embeddings.begin(WideEmbedder.fingerprint)
                return super().embed_documents(texts)

        report = shelf.embed(Displaced())

        assert report.stopped
        assert "hashing-twice" in (report.error or "")
        assert shelf.serving() == (OLD, WideEmbedder.fingerprint)
        assert shelf.firsts() == ASKED


class TestModelsThatFail:
    def test_one_that_is_away(self, shelf: Shelf) -> None:
        """The run ends without a change to the vectors that serve."""

        class UnavailableModel(UnreachableEmbedder):
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
        one.add({"ferry.md": "The ferry leaves at dawn.\n"})
        one.embed(HashingEmbedder())

        report = one.embed(Picky("ferry"))

        assert (report.replaced, report.waiting_for) == (None, OLD)
        assert one.ask("when does the ferry leave").results
        one.close()

    def test_the_older_one_cannot_be_asked(self, shelf: Shelf) -> None:
        """New texts wait for the new vectors, questions cannot be embedded, and nothing stands in the way."""
        shelf.add({"comet.md": "A comet was seen.\n"})
        asker = ServingEmbedder(shelf.vault.embeddings, Turned, lambda name: None)
        with pytest.raises(ModelMismatch):
            _ = asker.fingerprint

        assert shelf.embed(Turned(), alone=True).embedded == len(STORIES) + 1
        assert asker.fingerprint == "hashing-turned"
        assert shelf.ask("a comet was seen").results[0].document.path == "comet.md"

    def test_the_older_one_fails(self, shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
        """Then it embeds nothing more, and the new one goes on."""
        shelf.add({"comet.md": "A comet was seen.\n"})
        monkeypatch.setitem(MODELS, OLD, UnreachableEmbedder())

        report = shelf.embed(Turned())

        assert (report.embedded, report.stopped, report.replaced) == (len(STORIES) + 1, False, OLD)
