"""Working off what has no vector: in any number of runs, each text once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from notes_vault import NotesVault
from wired import embed_pending

from clawmem.adapters.memory.models import HashingEmbedder
from clawmem.app.services.indexing import embed
from clawmem.app.services.indexing.embed import EmbedReport
from clawmem.ports.errors import EmbeddingError
from clawmem.ports.indexes import EmbeddingCounts
from clawmem.ports.records import LINES, EmbedState, Vector, embedding_text

STORIES = {f"{n}.md": f"# Story {n}\n\nOnce, in town number {n}, a clock stood still.\n" for n in range(7)}


class Counting(HashingEmbedder):
    """An embedder that remembers what it was given, and fails on demand."""

    def __init__(self, *, fails: bool = False) -> None:
        self.batches: list[list[str]] = []
        self._fails = fails

    @property
    def texts(self) -> list[str]:
        return [text for batch in self.batches for text in batch]

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        self.batches.append(list(texts))
        if self._fails:
            raise EmbeddingError("The model is not well.")
        return super().embed_documents(texts)


class Poisoned(HashingEmbedder):
    """Cannot read one text, and then nothing that comes with it."""

    def __init__(self, poison: str) -> None:
        super().__init__()
        self._poison = poison

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        if self._poison in texts:
            raise EmbeddingError("It makes no sense.")
        return super().embed_documents(texts)


class Shelf(NotesVault):
    """Notes whose vectors a given embedder makes."""

    def embed_with(self, embedder: Counting) -> EmbedReport:
        """Make the vectors that are missing."""
        return embed_pending(self.vault, embedder)()

    def texts(self) -> list[str]:
        """What should have a vector, a text for every fragment."""
        return [
            embedding_text(part.context, part.text)
            for document in self.vault.documents.latest()
            for part in self.vault.documents.fragments(document.id)
            if part.kind not in LINES and embedding_text(part.context, part.text)
        ]

    def states(self) -> set[EmbedState]:
        return {document.embed_state for document in self.vault.documents.latest()}


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    made = Shelf(tmp_path)
    yield made
    made.vault.close()


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(embed, "BATCH", 3)
    return 3


def test_a_shared_text_is_embedded_once(shelf: Shelf) -> None:
    """Two documents of one text cost one vector, also when the second comes later; both are found by it."""
    text = "---\ndate: 2023-10-01\n---\n# Recipe\n\nThree lemons.\n"
    shelf.add({"a.md": text, "b.md": text})
    embedder = Counting()
    shelf.embed_with(embedder)
    before = shelf.vault.vectors.count()
    shelf.add({"c.md": text})

    assert shelf.vault.vectors.count() == before // 2 * 3 == len(shelf.texts())
    assert shelf.embed_with(embedder).embedded == 0
    assert sorted(embedder.texts) == sorted(set(shelf.texts()))
    found = shelf.vault.vectors.search(embedder.embed_query(embedder.texts[0]), 100)
    assert {hit.key.document_id for hit in found} == {d.id for d in shelf.vault.documents.latest()}


def test_of_a_changed_document_only_what_is_new_is_embedded(shelf: Shelf) -> None:
    """Passages that an edit left alone have their vectors already."""
    passages = [f"Passage {n}: " + f"word{n} " * 260 for n in range(3)]
    shelf.add({"long.md": "\n\n".join(passages)})
    shelf.embed_with(Counting())
    shelf.add({"long.md": "\n\n".join([*passages[:2], "Another end."])})
    again = Counting()

    shelf.embed_with(again)

    assert not any(text.count("word0") and not text.count("Another") for text in again.texts)
    assert any("Another end." in text for text in again.texts)
    assert shelf.vault.vectors.count() == len(shelf.texts())


def test_a_text_that_no_model_reads_is_told_from_its_neighbours(shelf: Shelf) -> None:
    """A batch that fails is halved until the one text is left that is the trouble; the others have their vectors."""
    shelf.add(STORIES)
    poison = sorted(set(shelf.texts()))[1]

    report = shelf.embed_with(Poisoned(poison))

    assert (report.embedded, report.failed) == (len(set(shelf.texts())) - 1, 3)
    assert shelf.vault.embeddings.counts().failed == 1


def test_a_model_that_fails_always_is_given_up(shelf: Shelf, small_batches: int) -> None:
    """Each text fails three times by itself, in this run or several; then the run ends and says why."""
    shelf.add(STORIES)
    broken = Counting(fails=True)

    report = shelf.embed_with(broken)

    texts = set(shelf.texts())
    assert (report.embedded, report.failed, report.stopped) == (0, 3 * len(texts), False)
    assert report.error == "The model is not well."
    assert shelf.vault.embeddings.counts() == EmbeddingCounts(failed=len(texts))
    assert shelf.states() == {EmbedState.FAILED}
    assert shelf.vault.vectors.count() == 0
