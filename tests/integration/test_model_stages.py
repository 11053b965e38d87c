"""Models around the indexes: other words before, a second reading after; with servers good, bad and absent."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import Any

import pytest
from notes_vault import NotesVault
from scripted_server import Models, ScriptedServer, scoring_each, writing
from vault_stores import retrieval_stores
from wired import answers_by_purpose, embed_pending, wired

from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.memory.models import HashingEmbedder, OverlapReranker
from clawmem.adapters.models.api import ApiGenerator, ApiReranker
from clawmem.app.services.retrieval.compare import fuse
from clawmem.app.services.retrieval.models import (
    EXPANSION,
    LINE_CHARS,
    RERANKED,
    RERANKER,
    expansion_stage,
    reranking_stages,
    variant_retrievers,
)
from clawmem.app.services.retrieval.models import Models as RetrievalModels
from clawmem.app.services.retrieval.pipelines import Pipeline
from clawmem.app.services.retrieval.request import RetrievalRequest, Unit, read_request
from clawmem.app.services.retrieval.retrieve import lexical_retriever, run_retrievers, vector_retriever
from clawmem.app.services.retrieval.score import cut
from clawmem.app.services.retrieval.work import LoadedTexts, Stage, Trace, Work
from clawmem.domain.retrieval import expansion
from clawmem.domain.retrieval.expansion import Variant, VariantKind, is_strong_signal
from clawmem.ports.models import Generator, Reranker
from clawmem.ports.records import Vector
from clawmem.ports.vault import Vault

LONGEST_S = 3.0  # generous for a busy machine; a server that waits would take ten
QUESTION = "when does the kettle whistle"

NOTES = {
    "kettle.md": "# Kettle\n\nThe kettle has a whistle in its spout.\n",
    "train.md": "# Train\n\nThe train has a whistle, and does whistle when it leaves.\n",
    "boiler.md": "# Boiler\n\nSteam pressure is what drives it.\n",
    "answer.md": "# Breakfast\n\nWater boils at seven; the kettle tells everybody.\n",
    "garden.md": "# Garden\n\nTomatoes want a lot of sun.\n",
}


def request(query: str = QUESTION, **rest: Any) -> RetrievalRequest:
    return read_request(query, now_ms=ManualClock().now_ms(), **{"diverse": False, **rest})


def run(stages: dict[str, Stage], vault: Vault, asked: RetrievalRequest) -> tuple[Work, Trace]:
    return Pipeline(retrieval_stores(vault), stages).rank(asked)


def reranking(
    vault: Vault, reranker: Reranker | None, withheld: Callable[..., Collection[int]] = frozenset
) -> dict[str, Stage]:
    models = RetrievalModels(reranker=reranker, withheld=withheld)
    return {
        "search": run_retrievers({"lexical": lexical_retriever(vault.lexical)}),
        "fuse": fuse,
        **reranking_stages(retrieval_stores(vault), models, deadline_s=LONGEST_S),
        "cut": cut,
    }


def paths(vault: Vault, document_ids: Collection[int]) -> dict[int, str]:
    return {number: found.path for number, found in vault.documents.many(document_ids).items()}


def names(vault: Vault, work: Work) -> list[str]:
    by_id = paths(vault, {candidate.document_id for candidate in work.candidates})
    return [by_id[candidate.document_id] for candidate in work.candidates]


def perfect(text: str) -> float:
    return 6.0 if "seven" in text else -6.0


def sent(server: ScriptedServer) -> list[list[str]]:
    return [body["documents"] for body in server.questions("/v1/rerank")]


OTHER_WORDS = (
    "lex: kettle steam pressure\nvec: at which moment the kettle sings\nhyde: The kettle boils at noon."
)


@pytest.fixture
def vault(notes_vault: NotesVault) -> Vault:
    return notes_vault.take_in(NOTES).vault


def expanding(vault: Vault, generator: Generator | None, deadline_s: float = LONGEST_S) -> dict[str, Stage]:
    stores, embedder = retrieval_stores(vault), HashingEmbedder()
    return {
        **expansion_stage(stores, RetrievalModels(generator), deadline_s=deadline_s),
        "search": run_retrievers(
            {
                "lexical": lexical_retriever(vault.lexical),
                "vector": vector_retriever(vault.vectors, vault.embeddings, embedder),
                **variant_retrievers(stores, embedder),
            }
        ),
    }


class TestExpansion:
    def test_other_words_find_what_the_question_does_not(self, vault: Vault, models: Models) -> None:
        """A note that shares no word with the question is found by keywords that do."""
        generator = models.factory(ApiGenerator, models.serve(writing(OTHER_WORDS)).url)

        work, _ = run(expanding(vault, generator), vault, request())

        found = {
            name: paths(vault, {hit.key.document_id for hit in hits}) for name, hits in work.legs.items()
        }
        assert "boiler.md" not in found["document"].values()
        assert "boiler.md" in found["document~1"].values()

    def test_a_question_is_expanded_once(self, vault: Vault, models: Models) -> None:
        """The second time the model is not asked, by another pipeline over the same vault neither."""
        server = models.serve(writing(OTHER_WORDS))
        generator = models.factory(ApiGenerator, server.url)

        answered = [run(expanding(vault, generator), vault, request())[0].variants for _ in range(2)]

        assert len(server.questions()) == 1
        assert answered[0] == answered[1] != ()
        assert answers_by_purpose(vault) == {EXPANSION: 1}

    def test_a_strong_signal_needs_no_other_words(
        self, vault: Vault, models: Models, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Where one note alone holds every word nobody is asked, unless there is an intent."""
        server = models.serve(writing("lex: garden"))
        stages, question = (
            expanding(vault, models.factory(ApiGenerator, server.url)),
            request("tomatoes want sun"),
        )
        monkeypatch.setattr(expansion, "is_strong_signal", partial(is_strong_signal, score=0.5))

        work, trace = run(stages, vault, question)
        assert (work.variants, server.questions()) == ((), [])
        assert trace.stages[0].notes and trace.degraded == {}

        run(stages, vault, question._replace(purpose="plant"))
        assert len(server.questions()) == 1

    def test_vectors_of_another_model_are_not_compared(self, vault: Vault) -> None:
        """Where the vault holds another model's vectors, other words find nothing by meaning, and raise nothing."""

        class Another(HashingEmbedder):
            fingerprint = "another"

        variants = Variant(VariantKind.VEC, "kettle"), Variant(VariantKind.LEX, "kettle")
        work = Work(LoadedTexts(vault.documents), variants=variants)
        words, meaning = (
            leg(request(), work) for leg in variant_retrievers(retrieval_stores(vault), Another()).values()
        )

        assert words.hits["document~1"]
        assert meaning.hits == {}


# -- The second reading by a reranker: what is sent, kept and blended.


class TestReranking:
    def test_a_perfect_model_moves_the_answer_to_the_top(self, vault: Vault, models: Models) -> None:
        """The note that answers is the first, wherever the indexes had put it, with the score that moved it."""
        reranker = models.factory(ApiReranker, models.serve(scoring_each(perfect)).url)
        before, _ = run(reranking(vault, None), vault, request())

        work, trace = run(reranking(vault, reranker), vault, request())

        assert names(vault, before)[0] != "answer.md"
        assert names(vault, work)[0] == "answer.md"
        assert sorted(names(vault, work)) == sorted(names(vault, before))
        assert work.candidates[0].legs[RERANKER] == pytest.approx(1 / (1 + math.exp(-6)))
        assert trace.degraded == {}

    def test_a_text_is_read_once_for_a_question(self, vault: Vault, models: Models) -> None:
        """The second time nothing is sent; another question or another intent is another reading."""
        server = models.serve(scoring_each(perfect))
        reranker = models.factory(ApiReranker, server.url)

        first, second = (run(reranking(vault, reranker), vault, request())[0] for _ in range(2))
        read = len(sent(server))
        assert first.candidates == second.candidates
        assert read == 1

        run(reranking(vault, reranker), vault, request("does the kettle whistle"))
        run(reranking(vault, reranker), vault, request(purpose="buy a new one"))
        assert len(sent(server)) == 3
        assert server.questions("/v1/rerank")[-1]["query"] == f"buy a new one\n\n{QUESTION}"

    def test_the_model_reads_where_it_matched(
        self, vault: Vault, models: Models, notes_vault: NotesVault
    ) -> None:
        """Of a long note the part around what matched is sent, not its beginning; of a line little more than it."""
        filler = "".join(f"Paragraph {n} is about nothing at all.\n\n" for n in range(400))
        notes_vault.take_in({"long.md": f"{filler}The zeppelin landed.\n\n{filler}"})
        server = models.serve(scoring_each(len))
        reranker = models.factory(ApiReranker, server.url)

        run(reranking(vault, reranker), vault, request("zeppelin landed?"))
        run(reranking(vault, reranker), vault, request("zeppelin landed?", unit=Unit.LINE))

        (document,), (line, *_) = sent(server)
        assert "The zeppelin landed." in document
        assert len(document) == 4000
        assert "The zeppelin landed." in line
        assert len(line) == LINE_CHARS


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vault]:
    """More notes than are reranked, each with another mixture of the words that are asked for."""
    place = tmp_path_factory.mktemp("many")
    made = NotesVault(place)
    asked = ("kettle", "whistle", "steam", "spout", "water")
    made.take_in(
        {
            f"note{n:02d}.md": " ".join(word for bit, word in enumerate(asked) if (n + 1) >> bit & 1)
            + f" and {'filler ' * (n % 7)} of note {n}.\n"
            for n in range(60)
        }
    )
    yield made.vault
    made.close()


def test_so_many_are_reranked(many: Vault) -> None:
    """Forty are read, fewer answers wanted or more; the others follow in the order they had."""
    asked = request("kettle or whistle or steam", limit=100)
    before, _ = run(reranking(many, None), many, asked)

    work, _ = run(reranking(many, OverlapReranker()), many, asked)

    read = [RERANKER in candidate.legs for candidate in work.candidates]
    assert RERANKED == 40 < len(before.candidates)
    assert read == [True] * RERANKED + [False] * (len(before.candidates) - RERANKED)
    assert [c.best for c in work.candidates[RERANKED:]] == [c.best for c in before.candidates[RERANKED:]]


class Overheard(HashingEmbedder, OverlapReranker):
    """Models that write down what they read, here or on another machine."""

    fingerprint = "overheard"

    def __init__(self, is_remote: bool) -> None:
        super().__init__()
        self.is_remote, self.texts = is_remote, list[str]()

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        self.texts += texts
        return super().embed_documents(texts)

    def rerank(self, query: str, texts: Sequence[str], **rest: Any) -> list[float]:
        self.texts += texts
        return super().rerank(query, texts, **rest)


@pytest.mark.parametrize("is_remote", [True, False])
def test_private_notes_stay_on_this_machine(notes_vault: NotesVault, is_remote: bool) -> None:
    """No server of another machine embeds or reranks them; they are found as before."""
    vault = notes_vault.take_in(NOTES | {"kettle.md": f"---\nprivate: true\n---\n{NOTES['kettle.md']}"}).vault
    model = Overheard(is_remote)

    report = embed_pending(vault, model)()
    work, _ = run(reranking(vault, model, wired(vault).withheld()), vault, request())

    assert any("spout" in text for text in model.texts) is not is_remote
    assert (report.embedded, report.is_whole, report.pending) == (4 if is_remote else 5, True, 0)
    assert "kettle.md" in names(vault, work)[:2]
