"""The canaries: what a good model passes, and every way of going wrong that they are there for."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_server import Role, running
from scripted_server import Models, ReceivedRequest, ScriptedReply, message, said, well_behaved

from clawmem.adapters.memory.models import HashingEmbedder, OverlapReranker, ScriptedGenerator
from clawmem.adapters.models.api import ApiEmbedder, ApiGenerator, ApiReranker
from clawmem.adapters.models.static import StaticEmbedder
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.app.services.maintenance import model_checks
from clawmem.app.services.maintenance.finding import CheckResult
from clawmem.app.services.maintenance.model_checks import (
    GENERATOR,
    GOLDEN,
    RERANKER,
    ModelChecks,
    cosine,
    embedder_fault,
    generator_fault,
    reranker_fault,
)
from clawmem.app.services.maintenance.model_checks import Models as Examined
from clawmem.ports.errors import ModelUnavailable
from clawmem.ports.models import Embedder
from clawmem.ports.records import Vector

needs_server = pytest.mark.skipif(
    not (find_spec("xllamacpp") and find_spec("gguf")),
    reason="needs a llama.cpp server: pip install xllamacpp gguf",
)
RIGHT = {golden.right for golden in GOLDEN}


class Scoring(OverlapReranker):
    """A reranker whose scores are made by a function of the documents."""

    def __init__(self, scores: Callable[[Sequence[str]], list[float]]) -> None:
        self._made = scores

    def rerank(self, query: str, documents: Sequence[str], *, timeout_s: float) -> list[float]:
        return self._made(documents)


class Shuffled(HashingEmbedder):
    """An embedder that gives each text the vector of something else, the same every time."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def embed_query(self, text: str) -> Vector:
        return super().embed_query(sha256(f"{self._seed}{text}".encode()).hexdigest())

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        return [self.embed_query(text) for text in texts]


class TestEmbedder:
    @pytest.mark.parametrize("embedder", [StaticEmbedder(), HashingEmbedder()], ids=["static", "hashing"])
    def test_a_good_one_passes(self, embedder: Embedder) -> None:
        """Every question is nearest to what it means."""
        assert embedder_fault(embedder) is None

    @given(st.integers(0, 10**9))
    def test_noise_never_passes(self, seed: int) -> None:
        """Vectors that have nothing to do with their texts do not pass, however they fall."""
        assert embedder_fault(Shuffled(seed)) is not None

    def test_a_vector_too_few(self) -> None:
        """A model that leaves one out is told before anything is compared."""

        class Short(HashingEmbedder):
            def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
                return super().embed_documents(texts)[:-1]

        assert embedder_fault(Short()) == "11 vectors came for 12 texts"

    def test_likeness_of_odd_vectors(self) -> None:
        """Zeros are like nothing; what is not finite or not of one length compares with nothing."""
        one, zeros = struct.pack("<2f", 3, 4), bytes(8)

        assert cosine(one, one) == pytest.approx(1)
        assert cosine(one, zeros) == 0
        assert math.isnan(cosine(one, one[:4]))
        assert math.isnan(cosine(one, struct.pack("<2f", math.nan, 1)))


class TestReranker:
    def test_a_good_one_passes(self) -> None:
        """Every question gets its answer first, wherever that stood."""
        assert reranker_fault(OverlapReranker()) is None

    @pytest.mark.parametrize(
        ("scores", "said"),
        [
            (lambda documents: [0.7 for _ in documents], "the same score"),
            (lambda documents: [float(text not in RIGHT) for text in documents], "the wrong way round"),
            (lambda documents: [1 / (1 + place) for place, _ in enumerate(documents)], "4 of 6 questions"),
            (lambda documents: [place / 10 for place, _ in enumerate(documents)], "5 of 6 questions"),
            (lambda documents: [math.nan for _ in documents], "not from 0 to 1"),
            (lambda documents: [7.0 if text in RIGHT else 1.0 for text in documents], "not from 0 to 1"),
            (lambda documents: [1.0], "a score is missing"),
        ],
        ids=["constant", "inverted", "first place", "last place", "NaN", "out of range", "too few"],
    )
    def test_a_degenerate_one(self, scores: Callable[[Sequence[str]], list[float]], said: str) -> None:
        """Scores that say nothing, or the opposite, are found out, each by its own name."""
        assert said in (reranker_fault(Scoring(scores)) or "")

    def test_a_tie_is_not_first(self) -> None:
        """An answer that only shares the first place is not first."""
        tied = Scoring(
            lambda documents: [float(text in RIGHT or text == documents[-1]) for text in documents]
        )

        assert "6 of 6" not in (reranker_fault(tied) or "")
        assert reranker_fault(tied) is not None

    def test_the_line_up_is_fair(self) -> None:
        """Each question's answer stands once in its line-up, and not always at the same place."""
        seen: list[int] = []

        def note(documents: Sequence[str]) -> list[float]:
            assert len(set(documents)) == len(documents) == 4
            seen.extend(place for place, text in enumerate(documents) if text in RIGHT)
            return [0.5 for _ in documents]

        reranker_fault(Scoring(note))

        assert seen == [0, 1, 2, 3, 0, 1]


class TestGenerator:
    @pytest.mark.parametrize("answer", ['{"answer": "yes"}', 'Sure!\n```json\n{"answer": "no"}\n```'])
    def test_json_of_the_shape_passes(self, answer: str) -> None:
        """One object with an allowed value is enough; what is right is not asked for."""
        assert generator_fault(ScriptedGenerator(lambda prompt: answer)) is None

    @pytest.mark.parametrize("answer", ["", "yes", "{}", '{"answer": "maybe"}', '["yes"]', "<html>"])
    def test_anything_else_does_not(self, answer: str) -> None:
        """Prose, another shape and another value are told after the second try."""
        asked: list[str] = []

        def script(prompt: str) -> str:
            asked.append(prompt)
            return answer

        assert "something else, twice" in (generator_fault(ScriptedGenerator(script)) or "")
        assert len(asked) == 2

    def test_a_parrot_does_not_pass(self) -> None:
        """A model that only repeats what it is asked has not answered it."""
        assert generator_fault(ScriptedGenerator(lambda prompt: prompt)) is not None


@needs_server
class TestRealServers:
    """llama.cpp with random weights: everything works but the sense, and that is what the canaries must tell."""

    def test_a_generator_that_is_held_to_a_shape(self, tmp_path: Path, models: Models) -> None:
        """Even a model of noise writes what the grammar lets it write."""
        with running(Role.GENERATE, tmp_path) as url:
            assert generator_fault(models.factory(ApiGenerator, url)) is None


def scores(change: Callable[[float], object]) -> Callable[[ReceivedRequest], ScriptedReply]:
    """A server that changes every score."""

    def answer(asked: ReceivedRequest) -> ScriptedReply:
        if asked.body is None:
            return well_behaved(asked)
        good = OverlapReranker().rerank(asked.body["query"], asked.body["documents"], timeout_s=1)
        results = [{"index": n, "relevance_score": change(8 * one - 4)} for n, one in enumerate(good)]
        return said({"results": results})

    return answer


class TestServers:
    """The same over the wire, where an adapter may find it out first."""

    def test_good_ones_pass(self, models: Models) -> None:
        """The ways of the wire do not change what a good model says."""
        server = models.serve()

        assert embedder_fault(models.factory(ApiEmbedder, server.url)) is None
        assert reranker_fault(models.factory(ApiReranker, server.url)) is None

    def test_late(self, models: Models, monkeypatch: pytest.MonkeyPatch) -> None:
        """A server that is slower than its canary's patience is out of reach, in time."""
        monkeypatch.setattr(model_checks, "RERANK_TIMEOUT_S", 0.3)
        monkeypatch.setattr(model_checks, "GENERATE_TIMEOUT_S", 0.3)
        server = models.serve(
            lambda asked: well_behaved(asked) if asked.body is None else ScriptedReply(b"{}", wait_s=30)
        )

        with pytest.raises(ModelUnavailable, match="no answer within"):
            reranker_fault(models.factory(ApiReranker, server.url))
        with pytest.raises(ModelUnavailable, match="no answer within"):
            generator_fault(models.factory(ApiGenerator, server.url))

    def test_findings_name_the_fault_and_the_time(self, models: Models) -> None:
        """What a server did wrong becomes a finding with its time and a way to do without."""

        def answer(asked: ReceivedRequest) -> ScriptedReply:
            if asked.path == "/v1/chat/completions":
                return said(message("I would rather not."))
            return scores(lambda score: 0)(asked)

        server = models.serve(answer)
        examined = Examined(
            generator=lambda: models.factory(ApiGenerator, server.url),
            reranker=lambda: models.factory(ApiReranker, server.url),
        )
        vault = open_vault(":memory:")
        checks = ModelChecks(vault.documents, vault.embeddings, examined).checks()
        found: list[CheckResult] = [checks[name]() for name in (GENERATOR, RERANKER)]

        assert [one.ok for one in found] == [False, False]
        assert all(one.detail.endswith(" ms)") for one in found)
        assert ["CLAWMEM_LLM_URL" in found[0].way_out, "CLAWMEM_RERANK_URL" in found[1].way_out] == [
            True,
            True,
        ]
