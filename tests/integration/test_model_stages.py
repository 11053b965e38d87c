"""Models around the indexes: other words before, a second reading after; with servers good, bad and absent."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from llama_server import Role, running
from scripted_server import Models, ReceivedRequest, ScriptedReply, ScriptedServer, listing, message, said

from clawmem.adapters.files.disk import DiskFiles
from clawmem.adapters.files.front_matter import parse_yaml
from clawmem.adapters.http.generator import http_generator
from clawmem.adapters.http.reranker import http_reranker
from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.memory.embedder import HashingEmbedder
from clawmem.adapters.memory.generator import ScriptedGenerator
from clawmem.adapters.memory.reranker import OverlapReranker
from clawmem.adapters.sqlite.vault import SqliteVault
from clawmem.app.services.indexing.embed import EmbedPending
from clawmem.app.services.indexing.folders import Folder
from clawmem.app.services.indexing.update import UpdateCollection
from clawmem.app.services.retrieval.legs.ask_all import RunRetrievers
from clawmem.app.services.retrieval.legs.lexical import lexical_retriever
from clawmem.app.services.retrieval.legs.variants import is_variant, variant_name, variant_retrievers
from clawmem.app.services.retrieval.legs.vector import vector_retriever
from clawmem.app.services.retrieval.pipeline import Pipeline
from clawmem.app.services.retrieval.pipelines import with_models
from clawmem.app.services.retrieval.pipelines.with_models import (
    NO_MODELS,
    expansion_stage,
    reformulation_retrievers,
    reranking_stages,
)
from clawmem.app.services.retrieval.request import Ranking, RetrievalRequest, Unit, read_request
from clawmem.app.services.retrieval.stages.blend import blend
from clawmem.app.services.retrieval.stages.choose_chunk import LINE_CHARS, RERANKED, choose_chunk
from clawmem.app.services.retrieval.stages.cut import cut
from clawmem.app.services.retrieval.stages.expand import EXPANSION, expand
from clawmem.app.services.retrieval.stages.fuse import fuse
from clawmem.app.services.retrieval.stages.rerank import BATCH, RERANKER, SHORT_CHARS, rerank, rerank_question
from clawmem.app.services.retrieval.stages.unchanged import unchanged
from clawmem.app.services.retrieval.trace import Trace
from clawmem.app.services.retrieval.work import Candidate, Stage, Work
from clawmem.domain.retrieval.expansion import MAX_TOKENS, TEMPERATURE, Variant, VariantKind
from clawmem.domain.retrieval.grains import retriever_of
from clawmem.ports.errors import InputTooLong, VaultLocked
from clawmem.ports.generator import Generator
from clawmem.ports.model_answers import ModelAnswers
from clawmem.ports.records import FragmentKey
from clawmem.ports.reranker import Reranker

pytestmark = pytest.mark.skipif(not find_spec("httpx2"), reason="needs pip install httpx2")
needs_server = pytest.mark.skipif(
    not (find_spec("xllamacpp") and find_spec("gguf")),
    reason="needs a llama.cpp server: pip install xllamacpp gguf",
)

SHORT_S = 0.3  # a deadline that a server which waits misses, and any other meets
LONGEST_S = 3.0  # generous for a busy machine; a server that waits would take ten
QUESTION = "when does the kettle whistle"
OTHER_WORDS = (
    "lex: kettle steam pressure\nvec: at which moment the kettle sings\nhyde: The kettle boils at noon."
)

NOTES = {
    "kettle.md": "# Kettle\n\nThe kettle has a whistle in its spout.\n",
    "train.md": "# Train\n\nThe train has a whistle, and does whistle when it leaves.\n",
    "boiler.md": "# Boiler\n\nSteam pressure is what drives it.\n",
    "answer.md": "# Breakfast\n\nWater boils at seven; the kettle tells everybody.\n",
    "garden.md": "# Garden\n\nTomatoes want a lot of sun.\n",
}


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[SqliteVault]:
    with_notes = SqliteVault(str(tmp_path / "vault.sqlite"))
    take_in(with_notes, tmp_path, NOTES)
    yield with_notes
    with_notes.close()


def take_in(vault: SqliteVault, place: Path, texts: dict[str, str]) -> None:
    folder = place / "notes"
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")
    UpdateCollection(vault, DiskFiles(), ManualClock(), parse_yaml)(Folder("notes", str(folder)))
    EmbedPending(vault, HashingEmbedder())()


def request(query: str = QUESTION, **rest: Any) -> RetrievalRequest:
    return read_request(query, now_ms=ManualClock().now_ms(), **rest)


def run(stages: dict[str, Stage], vault: SqliteVault, asked: RetrievalRequest) -> tuple[Work, Trace]:
    return Pipeline(vault, stages).rank(asked)


def expanding(vault: SqliteVault, generator: Generator | None, **rest: Any) -> dict[str, Stage]:
    answers = rest.pop("answers", vault.answers)
    return {
        "expand": expand(vault, generator, answers, ManualClock(), **{"deadline_s": LONGEST_S, **rest}),
        "search": RunRetrievers(
            {
                "lexical": lexical_retriever(vault),
                "vector": vector_retriever(vault, HashingEmbedder()),
                **variant_retrievers(vault, HashingEmbedder()),
            }
        ),
    }


def reranking(vault: SqliteVault, reranker: Reranker | None, **rest: Any) -> dict[str, Stage]:
    answers: ModelAnswers = rest.pop("answers", vault.answers)
    return {
        "search": RunRetrievers({"lexical": lexical_retriever(vault)}),
        "fuse": fuse(vault),
        "chunk": choose_chunk(vault, reranker),
        "rerank": rerank(reranker, answers, ManualClock(), **{"deadline_s": LONGEST_S, **rest}),
        "blend": blend,
        "cut": cut,
    }


def paths(vault: SqliteVault, document_ids: Collection[int]) -> dict[int, str]:
    return {number: found.path for number, found in vault.documents.many(document_ids).items()}


def names(vault: SqliteVault, work: Work) -> list[str]:
    by_id = paths(vault, {candidate.document_id for candidate in work.candidates})
    return [by_id[candidate.document_id] for candidate in work.candidates]


def writing(text: str) -> Callable[[ReceivedRequest], ScriptedReply]:
    """A server that writes *text*, whatever it is asked."""
    return lambda asked: listing("tiny") if asked.path == "/v1/models" else said(message(text))


def scoring(score: Callable[[str], float]) -> Callable[[ReceivedRequest], ScriptedReply]:
    """A server whose scores follow from a document's text alone."""

    def answer(asked: ReceivedRequest) -> ScriptedReply:
        if asked.path == "/v1/models":
            return listing("tiny")
        found = [(number, score(text)) for number, text in enumerate(asked.body["documents"])]
        return said({"results": [{"index": number, "relevance_score": value} for number, value in found]})

    return answer


def perfect(text: str) -> float:
    return 6.0 if "seven" in text else -6.0


def sent(server: ScriptedServer) -> list[list[str]]:
    """The batches of documents that were sent."""
    return [body["documents"] for body in server.questions("/v1/rerank")]


BAD = {
    "slow": lambda asked: ScriptedReply(wait_s=10),
    "broken": lambda asked: said({"error": "no"}, 500),
    "refusing": lambda asked: said({"error": {"message": "wrong key"}}, 401),
    "hanging up": lambda asked: ScriptedReply(hangs_up=True),
    "HTML": lambda asked: ScriptedReply(b"<html>It works!</html>", headers={"Content-Type": "text/html"}),
    "truncated JSON": lambda asked: ScriptedReply(b'{"results": [{"index": 0'),
    "another shape": lambda asked: said([1, 2, 3]),
}


class TestWithoutModels:
    def test_every_stage_is_nothing(self, vault: SqliteVault) -> None:
        """A stage without its model is the one function that changes nothing: no thread, no memory, no reading."""
        stages = [
            expand(vault, None, vault.answers, ManualClock()),
            choose_chunk(vault, None),
            rerank(None, vault.answers, ManualClock()),
        ]

        assert stages == [unchanged] * 3

    def test_rows_are_empty(self, vault: SqliteVault) -> None:
        """A pipeline without models has no stage and no leg for them."""
        assert expansion_stage(vault, NO_MODELS) == {}
        assert reformulation_retrievers(vault, HashingEmbedder(), NO_MODELS) == {}
        assert reranking_stages(vault, NO_MODELS) == {}

    def test_the_order_is_the_indexes_own(self, vault: SqliteVault) -> None:
        """Without a model the candidates are those that fusing left, each in every respect."""
        plain = {"search": RunRetrievers({"lexical": lexical_retriever(vault)}), "fuse": fuse(vault)}

        expected, _ = run(plain, vault, request())
        actual, trace = run(reranking(vault, None), vault, request())

        assert actual.candidates == expected.candidates
        assert trace.degraded == {}


class TestBoth:
    def test_other_words_and_a_second_reading(self, vault: SqliteVault, models: Models) -> None:
        """Both rows in one pipeline: what the other words found is there, and the answer is at the top."""
        generator = models.factory(http_generator, models.serve(writing(OTHER_WORDS)).url)
        reranker = models.factory(http_reranker, models.serve(scoring(perfect)).url)
        helping = with_models.Models(generator, reranker, models.clock)
        legs = {
            "lexical": lexical_retriever(vault),
            **reformulation_retrievers(vault, HashingEmbedder(), helping),
        }
        stages = {
            **expansion_stage(vault, helping),
            "search": RunRetrievers(legs),
            "fuse": fuse(vault),
            **reranking_stages(vault, helping),
        }

        work, trace = run(stages, vault, request())

        assert [stage.name for stage in trace.stages] == [
            "expand", "search", "fuse", "choose chunk", "rerank", "blend"
        ]  # fmt: skip
        assert names(vault, work)[0] == "answer.md"
        assert trace.degraded == {}
        assert vault.answers.counts() == {EXPANSION: 1, "rerank": len(work.candidates)}


class TestExpansion:
    def test_other_words_are_asked_too(self, vault: SqliteVault, models: Models) -> None:
        """Keywords go to the index of words, rephrasing and passage to that of vectors, each under its own name."""
        server = models.serve(writing(OTHER_WORDS))

        work, trace = run(expanding(vault, models.factory(http_generator, server.url)), vault, request())

        assert work.variants == (
            Variant(VariantKind.LEX, "kettle steam pressure"),
            Variant(VariantKind.VEC, "at which moment the kettle sings"),
            Variant(VariantKind.HYDE, "The kettle boils at noon."),
        )
        added = {name for name in work.legs if is_variant(name)}
        assert added == {"document~1", "passage~1", "vector~1", "vector~2"}
        assert all(work.legs[name] for name in added)
        assert trace.degraded == {}
        assert "lex: kettle steam pressure" in trace.stages[0].notes

    def test_other_words_find_what_the_question_does_not(self, vault: SqliteVault, models: Models) -> None:
        """A note that shares no word with the question is found by keywords that do."""
        generator = models.factory(http_generator, models.serve(writing(OTHER_WORDS)).url)

        work, _ = run(expanding(vault, generator), vault, request())

        found = {
            name: paths(vault, {hit.key.document_id for hit in hits}) for name, hits in work.legs.items()
        }
        assert "boiler.md" not in found["document"].values()
        assert "boiler.md" in found["document~1"].values()

    def test_a_question_is_expanded_once(self, vault: SqliteVault, models: Models) -> None:
        """The second time the model is not asked, by another pipeline over the same vault neither."""
        server = models.serve(writing(OTHER_WORDS))
        generator = models.factory(http_generator, server.url)

        answered = [run(expanding(vault, generator), vault, request())[0].variants for _ in range(2)]

        assert len(server.questions()) == 1
        assert answered[0] == answered[1] != ()
        assert vault.answers.counts() == {EXPANSION: 1}

    def test_what_the_model_is_asked(self, vault: SqliteVault, models: Models) -> None:
        """It gets the question, the intent if there is one, and the published limits."""
        server = models.serve(writing(OTHER_WORDS))
        generator = models.factory(http_generator, server.url)

        run(expanding(vault, generator), vault, request())
        run(expanding(vault, generator), vault, request(purpose="buy a new one"))

        plain, with_intent = server.questions()
        assert (plain["max_tokens"], plain["temperature"]) == (MAX_TOKENS, TEMPERATURE) == (500, 0.7)
        assert QUESTION in plain["messages"][0]["content"]
        assert "buy a new one" not in plain["messages"][0]["content"]
        assert "buy a new one" in with_intent["messages"][0]["content"]

    def test_a_strong_signal_needs_no_other_words(self, vault: SqliteVault, models: Models) -> None:
        """Where one note alone holds every word nobody is asked, unless there is an intent or the bar is higher."""
        server = models.serve(writing("lex: garden"))
        generator = models.factory(http_generator, server.url)
        strong, asked = {"strong_score": 0.5, "strong_gap": 0.15}, request("tomatoes want sun")

        work, trace = run(expanding(vault, generator, **strong), vault, asked)
        assert (work.variants, server.questions()) == ((), [])
        assert trace.stages[0].notes and trace.degraded == {}

        run(expanding(vault, generator, **strong), vault, asked._replace(purpose="plant"))
        run(expanding(vault, generator, **strong | {"strong_score": 0.99}), vault, asked)
        assert len(server.questions()) == 2

    def test_punctuation_is_not_expanded(self, vault: SqliteVault, models: Models) -> None:
        """A question without a word is not sent anywhere."""
        server = models.serve(writing(OTHER_WORDS))

        run(expanding(vault, models.factory(http_generator, server.url)), vault, request("?!"))

        assert server.questions() == []

    @pytest.mark.parametrize("bad", [*BAD, "chatter"])
    def test_a_bad_model_leaves_the_question(self, bad: str, vault: SqliteVault, models: Models) -> None:
        """Whatever goes wrong, the question's own hits come in time, with the reason, and nothing is kept."""
        server = models.serve(BAD.get(bad) or writing("The kettle whistles when the water boils."))
        generator = models.factory(http_generator, server.url)
        expected, _ = run(expanding(vault, None), vault, request())
        began = time.monotonic()

        work, trace = run(expanding(vault, generator, deadline_s=SHORT_S), vault, request())

        assert time.monotonic() - began < LONGEST_S
        assert work.legs == expected.legs
        assert work.variants == ()
        assert trace.degraded.keys() == {EXPANSION}
        assert trace.degraded[EXPANSION]
        assert vault.answers.counts() == {}

    def test_a_model_that_is_not_there(self, vault: SqliteVault, models: Models) -> None:
        """A server that does not run is named as missing, at once."""
        server = models.serve()
        generator = models.factory(http_generator, server.url)
        server.close()

        _, trace = run(expanding(vault, generator), vault, request())

        assert trace.degraded.keys() == {EXPANSION}

    def test_a_model_that_heeds_no_deadline(self, vault: SqliteVault) -> None:
        """One that does not come back is left to itself; the question's own hits come in time."""
        released = Event()

        class Deaf(ScriptedGenerator):
            def generate(self, prompt: str, **rest: Any) -> str:
                released.wait(LONGEST_S)
                return OTHER_WORDS

        began = time.monotonic()
        try:
            work, trace = run(expanding(vault, Deaf(), deadline_s=SHORT_S), vault, request())
            waited = time.monotonic() - began
        finally:
            released.set()

        assert waited < LONGEST_S
        assert work.legs["document"]
        assert trace.degraded == {EXPANSION: "no answer within 0.3 s"}

    def test_a_memory_that_fails_is_not_noticed(self, vault: SqliteVault, models: Models) -> None:
        """Where answers can be neither read nor kept the model is asked each time, and nobody is told."""

        class Locked:
            def get(self, *key: str) -> str | None:
                raise VaultLocked("vault.sqlite")

            def keep_all(self, *key: Any, at: str) -> None:
                raise VaultLocked("vault.sqlite")

        server = models.serve(writing(OTHER_WORDS))
        generator = models.factory(http_generator, server.url)
        for _ in range(2):
            work, trace = run(expanding(vault, generator, answers=Locked()), vault, request())
            assert (len(work.variants), trace.degraded) == (3, {})

        assert len(server.questions()) == 2

    def test_vectors_of_another_model_are_not_compared(self, vault: SqliteVault) -> None:
        """Where the vault holds another model's vectors, other words find nothing by meaning, and raise nothing."""

        class Another(HashingEmbedder):
            fingerprint = "another"

        work = Work(variants=(Variant(VariantKind.VEC, "kettle"), Variant(VariantKind.LEX, "kettle")))
        words, meaning = (leg(request(), work) for leg in variant_retrievers(vault, Another()).values())

        assert words.hits["document~1"]
        assert meaning.hits == {}

    def test_variants_have_names(self) -> None:
        """A variant's leg is told from the question's own, and both have the same origin."""
        assert variant_name("vector", 2) == "vector~2"
        assert [retriever_of(name) for name in ("vector~2", "vector")] == ["vector", "vector"]
        assert [is_variant(name) for name in ("vector~2", "vector")] == [True, False]


class TestReranking:
    def test_a_perfect_model_moves_the_answer_to_the_top(self, vault: SqliteVault, models: Models) -> None:
        """The note that answers is the first, wherever the indexes had put it, with the score that moved it."""
        reranker = models.factory(http_reranker, models.serve(scoring(perfect)).url)
        before, _ = run(reranking(vault, None), vault, request())

        work, trace = run(reranking(vault, reranker), vault, request())

        assert names(vault, before)[0] != "answer.md"
        assert names(vault, work)[0] == "answer.md"
        assert sorted(names(vault, work)) == sorted(names(vault, before))
        assert work.candidates[0].legs[RERANKER] == pytest.approx(1 / (1 + math.exp(-6)))
        assert trace.degraded == {}

    def test_the_published_blend_keeps_the_first(self, vault: SqliteVault, models: Models) -> None:
        """Under the published ranking the first one stays, as published; the answer is the second."""
        reranker = models.factory(http_reranker, models.serve(scoring(perfect)).url)
        before, _ = run(reranking(vault, None), vault, request())

        work, _ = run(reranking(vault, reranker), vault, request(ranking=Ranking.PUBLISHED))

        assert names(vault, work)[0] == names(vault, before)[0]
        assert names(vault, work)[1] == "answer.md"

    @pytest.mark.parametrize("score", [0.0, 1.5, -300.0])
    def test_a_useless_model_changes_nothing(self, score: float, vault: SqliteVault, models: Models) -> None:
        """One that says the same of every text leaves order and relevance as they were."""
        reranker = models.factory(http_reranker, models.serve(scoring(lambda text: score)).url)
        before, _ = run(reranking(vault, None), vault, request())

        work, trace = run(reranking(vault, reranker), vault, request())

        assert [(c.best, c.relevance) for c in work.candidates] == [
            (c.best, c.relevance) for c in before.candidates
        ]
        assert trace.degraded == {}

    @pytest.mark.parametrize("bad", [*BAD, "not a number", "too few"])
    def test_a_bad_model_changes_nothing(self, bad: str, vault: SqliteVault, models: Models) -> None:
        """Whatever goes wrong, the fused order comes in time, with the reason, and nothing is kept."""
        server = models.serve(BAD.get(bad) or {"not a number": _nan, "too few": _too_few}[bad])
        reranker = models.factory(http_reranker, server.url)
        before, _ = run(reranking(vault, None), vault, request())
        began = time.monotonic()

        work, trace = run(reranking(vault, reranker, deadline_s=SHORT_S), vault, request())

        assert time.monotonic() - began < LONGEST_S
        assert [(c.best, c.relevance, c.legs) for c in work.candidates] == [
            (c.best, c.relevance, c.legs) for c in before.candidates
        ]
        assert trace.degraded.keys() == {RERANKER}
        assert vault.answers.counts() == {}

    def test_small_batches_and_each_text_once(
        self, vault: SqliteVault, models: Models, tmp_path: Path
    ) -> None:
        """Ten notes of which half say the same are five texts: a batch of four and one of one."""
        texts = {f"copy{n}.md": f"The whistle of number {n // 2}.\n" for n in range(10)}
        take_in(vault, tmp_path, texts)
        server = models.serve(scoring(len))

        work, _ = run(
            reranking(vault, models.factory(http_reranker, server.url)), vault, request("number whistle?")
        )

        batches = sent(server)
        everything = [text for batch in batches for text in batch]
        assert all(len(batch) <= BATCH for batch in batches)
        assert len(everything) == len(set(everything))
        copies = [c for c, name in zip(work.candidates, names(vault, work), strict=True) if "copy" in name]
        assert len(copies) == 10
        assert len({c.chunk for c in copies}) == 5

    def test_a_text_is_read_once_for_a_question(self, vault: SqliteVault, models: Models) -> None:
        """The second time nothing is sent; another question or another intent is another reading."""
        server = models.serve(scoring(perfect))
        reranker = models.factory(http_reranker, server.url)

        first, second = (run(reranking(vault, reranker), vault, request())[0] for _ in range(2))
        read = len(sent(server))
        assert first == second
        assert read == 1

        run(reranking(vault, reranker), vault, request("does the kettle whistle"))
        run(reranking(vault, reranker), vault, request(purpose="buy a new one"))
        assert len(sent(server)) == 3
        assert server.questions("/v1/rerank")[-1]["query"] == f"buy a new one\n\n{QUESTION}"

    def test_what_was_read_before_a_failure_is_not_read_again(
        self, vault: SqliteVault, models: Models, tmp_path: Path
    ) -> None:
        """A model too slow for all of it gets further the next time."""
        take_in(vault, tmp_path, {f"more{n}.md": f"Kettle {n} has a whistle.\n" for n in range(6)})
        calls = 0

        def failing(asked: ReceivedRequest) -> ScriptedReply:
            nonlocal calls
            calls += asked.path == "/v1/rerank"
            return said({}, 400) if calls == 2 else scoring(len)(asked)

        server = models.serve(failing)
        reranker = models.factory(http_reranker, server.url)

        _, trace = run(reranking(vault, reranker), vault, request())
        assert trace.degraded.keys() == {RERANKER}
        work, trace = run(reranking(vault, reranker), vault, request())

        first, _, *later = sent(server)
        assert trace.degraded == {}
        assert len(first) == BATCH
        assert not set(first) & {text for batch in later for text in batch}
        assert all(RERANKER in candidate.legs for candidate in work.candidates)

    def test_too_long_texts_are_cut(self, vault: SqliteVault) -> None:
        """A model that four thousand characters are too many for gets four hundred."""
        read: list[str] = []

        class Small:
            fingerprint = "small"
            max_document_chars = 4000

            def rerank(self, query: str, documents: Sequence[str], *, timeout_s: float) -> list[float]:
                if max(map(len, documents)) > SHORT_CHARS:
                    raise InputTooLong("small")
                read.extend(documents)
                return [float("seven" in document) for document in documents]

        texts = ("seven " * 200, "eight " * 200)
        work = Work(
            candidates=tuple(
                Candidate(number, FragmentKey(number, 0), 0.5, 0.5, chunk=text)
                for number, text in enumerate(texts, start=1)
            )
        )
        stage = rerank(Small(), vault.answers, ManualClock())

        scored = stage(request(), work, Trace())

        assert [len(text) for text in read] == [SHORT_CHARS, SHORT_CHARS]
        assert [candidate.legs[RERANKER] for candidate in scored.candidates] == [1.0, 0.0]

    def test_the_model_reads_where_it_matched(
        self, vault: SqliteVault, models: Models, tmp_path: Path
    ) -> None:
        """Of a long note the part around what matched is sent, not its beginning; of a line little more than it."""
        filler = "".join(f"Paragraph {n} is about nothing at all.\n\n" for n in range(400))
        take_in(vault, tmp_path, {"long.md": f"{filler}The zeppelin landed.\n\n{filler}"})
        server = models.serve(scoring(len))
        reranker = models.factory(http_reranker, server.url)

        run(reranking(vault, reranker), vault, request("zeppelin landed?"))
        run(reranking(vault, reranker), vault, request("zeppelin landed?", unit=Unit.LINE))

        (document,), (line, *_) = sent(server)
        assert "The zeppelin landed." in document
        assert len(document) == 4000
        assert "The zeppelin landed." in line
        assert len(line) == LINE_CHARS

    def test_broken_notes_of_the_past_are_read_anew(self, vault: SqliteVault, models: Models) -> None:
        """A score that was kept and is no number is not believed."""
        server = models.serve(scoring(perfect))
        reranker = models.factory(http_reranker, server.url)
        expected, _ = run(reranking(vault, reranker), vault, request())

        class Rotten:
            def get(self, *key: str) -> str | None:
                return "nan" if len(key[-1]) % 2 else "not a number"

        work, trace = run(reranking(vault, reranker, answers=Rotten()), vault, request())

        assert work == expected
        assert trace.degraded == {}

    def test_the_question_of_a_reranker(self) -> None:
        """The intent stands before the question, with an empty line between; a blank one is none."""
        assert rerank_question("q") == rerank_question("q", "  ") == "q"
        assert rerank_question("q", " why ") == "why\n\nq"


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteVault]:
    """More notes than are reranked, each with another mixture of the words that are asked for."""
    place = tmp_path_factory.mktemp("many")
    vault = SqliteVault(str(place / "vault.sqlite"))
    asked = ("kettle", "whistle", "steam", "spout", "water")
    take_in(
        vault,
        place,
        {
            f"note{n:02d}.md": " ".join(word for bit, word in enumerate(asked) if (n + 1) >> bit & 1)
            + f" and {'filler ' * (n % 7)} of note {n}.\n"
            for n in range(60)
        },
    )
    yield vault
    vault.close()


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.integers(1, 70),
    st.sampled_from(["the kettle and its whistle", "is there steam or water in it", "spout of the kettle"]),
)
def test_the_top_does_not_depend_on_the_limit(many: SqliteVault, limit: int, query: str) -> None:
    """However many answers are asked for, the first ones are the same, and in the same order."""
    stages = reranking(many, OverlapReranker(), answers=SqliteVault(":memory:").answers)

    few, _ = run(stages, many, request(query, limit=limit))
    all_of_them, _ = run(stages, many, request(query, limit=100))

    assert few.candidates == all_of_them.candidates[:limit]


def test_so_many_are_reranked(many: SqliteVault) -> None:
    """Forty are read, fewer answers wanted or more; the others follow in the order they had."""
    asked = request("kettle or whistle or steam", limit=100)
    before, _ = run(reranking(many, None), many, asked)

    work, _ = run(reranking(many, OverlapReranker()), many, asked)

    read = [RERANKER in candidate.legs for candidate in work.candidates]
    assert RERANKED == 40 < len(before.candidates)
    assert read == [True] * RERANKED + [False] * (len(before.candidates) - RERANKED)
    assert [c.best for c in work.candidates[RERANKED:]] == [c.best for c in before.candidates[RERANKED:]]


@pytest.mark.parametrize("candidates", [5, 50])
def test_so_many_are_looked_at_as_somebody_asks_for(many: SqliteVault, candidates: int) -> None:
    """The best of the indexes, whatever the limit: these are read, and there are no others."""
    asked = request("kettle or whistle or steam", limit=100)
    before, _ = run(reranking(many, None), many, asked)

    work, _ = run(reranking(many, OverlapReranker()), many, asked._replace(candidate_limit=candidates))

    assert all(RERANKER in candidate.legs for candidate in work.candidates)
    assert {c.best for c in work.candidates} == {c.best for c in before.candidates[:candidates]}


@needs_server
class TestRealServers:
    def test_a_model_that_babbles(self, vault: SqliteVault, models: Models, tmp_path: Path) -> None:
        """A real server whose model writes nonsense is no help, and no harm."""
        expected, _ = run(expanding(vault, None), vault, request())
        with running(Role.GENERATE, tmp_path) as url:
            generator = models.factory(http_generator, url)
            work, trace = run(expanding(vault, generator, deadline_s=30), vault, request())

        assert work.legs == expected.legs
        assert trace.degraded.keys() == {EXPANSION}

    def test_a_model_that_judges_by_chance(self, vault: SqliteVault, models: Models, tmp_path: Path) -> None:
        """A real server gives every candidate a score, and the same when it is not asked again."""
        with running(Role.RERANK, tmp_path) as url:
            reranker = models.factory(http_reranker, url)
            work, trace = run(reranking(vault, reranker, deadline_s=30), vault, request())
            assert trace.degraded == {}
        again, trace = run(reranking(vault, reranker, deadline_s=30), vault, request())

        scores = [candidate.legs[RERANKER] for candidate in work.candidates]
        assert all(0.0 < score < 1.0 for score in scores) and len(set(scores)) == len(scores)
        assert (again, trace.degraded) == (work, {})


def _nan(asked: ReceivedRequest) -> ScriptedReply:
    if asked.path == "/v1/models":
        return listing("tiny")
    results = [{"index": n, "relevance_score": math.nan} for n in range(len(asked.body["documents"]))]
    return said({"results": results})


def _too_few(asked: ReceivedRequest) -> ScriptedReply:
    if asked.path == "/v1/models":
        return listing("tiny")
    return said({"results": [{"index": 0, "relevance_score": 1.0}]})
