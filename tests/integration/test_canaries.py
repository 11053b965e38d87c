"""The canaries: what a good model passes, and every way of going wrong that they are there for."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_server import Models, ReceivedRequest, ScriptedReply, message, said, well_behaved

from clawmem.adapters.memory.models import HashingEmbedder, OverlapReranker, ScriptedGenerator
from clawmem.adapters.models.api import ApiGenerator, ApiReranker
from clawmem.adapters.models.static import StaticEmbedder
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.app.services.maintenance.finding import CheckResult
from clawmem.app.services.maintenance.model_checks import (
    GENERATOR,
    GOLDEN,
    RERANKER,
    ModelChecks,
    embedder_fault,
    generator_fault,
    reranker_fault,
)
from clawmem.app.services.maintenance.model_checks import Models as Examined
from clawmem.ports.models import Embedder
from clawmem.ports.records import Vector

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
