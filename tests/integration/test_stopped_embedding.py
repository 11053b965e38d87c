"""Embedding that was stopped, with models that fail, and what goes on afterwards."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from embedding_shelf import OLD, Shelf, Turned, stopped
from notes_vault import ASKED, STORIES

from clawmem.adapters.memory.models import HashingEmbedder
from clawmem.app.services.indexing.embed import EmbedReport
from clawmem.ports.errors import EmbeddingError
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


class TestModelsThatFail:
    def test_one_that_reads_too_little(self, shelf: Shelf) -> None:
        """A model that gives up several texts takes nobody's place, now or later, and the report says why."""
        for _ in range(2):
            report = shelf.embed(Picky("ferry", "kettle"))
            assert (report.replaced, report.waiting_for) == (None, OLD)
            assert report.error == f"2 of {len(STORIES)} texts cannot be embedded"

        assert shelf.serving() == (OLD, "hashing-turned")
        assert shelf.firsts() == ASKED
