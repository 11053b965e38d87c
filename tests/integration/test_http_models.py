"""Model servers of one's own over HTTP: their models, their limits, and a real llama.cpp server."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from llama_server import Role, running
from scripted_server import (
    Models,
    ReceivedRequest,
    ScriptedReply,
    listing,
    said,
    well_behaved,
)

from clawmem.adapters.models.api import ApiEmbedder, ApiReranker
from clawmem.contracts.samples import cosine
from clawmem.ports.errors import ModelRefused, ModelUnavailable

needs_server = pytest.mark.skipif(
    not (find_spec("xllamacpp") and find_spec("gguf")),
    reason="needs a llama.cpp server: pip install xllamacpp gguf",
)

KEY = "sk-made-up-1234567890"
TEXTS = ["The bees left the hive.", "Two wooden boats.", "Income tax is due."]


class TestServerOfOnesOwn:
    def test_its_model_names_the_space(self, models: Models) -> None:
        """The fingerprint holds the served file's name, what tells its weights, its prompts and the length."""
        server = models.serve(_serving("/home/ann/embeddinggemma-300M-Q8_0.gguf", n_params=1, n_vocab=2))
        other = models.serve(_serving("/srv/embeddinggemma-300M-Q8_0.gguf", n_params=1, n_vocab=3))

        first, second = (models.factory(ApiEmbedder, one.url).fingerprint for one in (server, other))

        assert first.startswith("llama-server:embeddinggemma-300M-Q8_0.gguf:")
        assert first.endswith(":gemma:64")
        assert "ann" not in first
        assert first != second

    def test_its_model_is_told_what_a_text_is(self, models: Models) -> None:
        """The prompts of the served model stand before questions and documents."""
        server = models.serve(_serving("nomic-embed-text-v1.5.Q8_0.gguf"))
        embedder = models.factory(ApiEmbedder, server.url)

        embedder.embed_query("hive")
        embedder.embed_documents(["bees"])

        assert [body["input"] for body in server.questions()][1:] == [
            ["search_query: hive"],
            ["search_document: bees"],
        ]

    def test_long_texts_are_cut(self, models: Models) -> None:
        """What is beyond `max_chars` is not sent."""
        server = models.serve()
        models.factory(ApiEmbedder, server.url, max_chars=10).embed_documents(["0123456789abc"])

        assert server.questions()[-1]["input"] == ["0123456789"]


class TestReranking:
    def test_batches_of_four_and_equal_texts_once(self, models: Models) -> None:
        """A server of one's own is sent four documents at a time, and none twice."""
        server = models.serve()
        reranker = models.factory(ApiReranker, server.url)
        documents = [f"hive {n}" for n in range(6)]

        reranker.rerank("hive", [*documents, *documents], timeout_s=5)

        assert [body["documents"] for body in server.questions()] == [documents[:4], documents[4:]]

    def test_raw_scores_are_brought_to_scale(self, models: Models) -> None:
        """What a server of one's own sends is an exponent, of a model known for probabilities a probability."""
        raw = models.serve(_ranking_as("bge-reranker-v2-m3.gguf", [3.0, -1000.0, 1000.0]))
        ready = models.serve(_ranking_as("qwen3-reranker-0.6b-q8_0.gguf", [0.25, 0.0, 1.0]))

        scores = models.factory(ApiReranker, raw.url).rerank("hive", TEXTS, timeout_s=5)
        shares = models.factory(ApiReranker, ready.url).rerank("hive", TEXTS, timeout_s=5)

        assert scores == pytest.approx([1 / (1 + math.exp(-3)), 0.0, 1.0])
        assert shares == [0.25, 0.0, 1.0]

    def test_a_small_context_gets_short_documents(self, models: Models) -> None:
        """Documents that are too long for the server are sent again with four hundred characters each."""

        def small(asked: ReceivedRequest) -> ScriptedReply:
            if asked.body and max(map(len, asked.body["documents"])) > 1000:
                return said({"error": {"message": "input (900 tokens) is too large to process"}}, 500)
            return well_behaved(asked)

        server = models.serve(small)
        scores = models.factory(ApiReranker, server.url).rerank("hive", ["hive " * 900, "boat"], timeout_s=5)

        assert [[len(d) for d in body["documents"]] for body in server.questions()] == [[4000, 4], [400, 4]]
        assert scores[0] > scores[1]

    def test_all_batches_have_one_deadline(self, models: Models) -> None:
        """Batch after batch a slow server does not get more time than the whole question has."""
        server = models.serve(
            lambda asked: ScriptedReply(b"", 200, wait_s=0.4) if asked.body is None else slowly(asked)
        )

        def slowly(asked: ReceivedRequest) -> ScriptedReply:
            return ScriptedReply(well_behaved(asked).body, wait_s=0.2)

        reranker = models.factory(ApiReranker, server.url)
        with pytest.raises(ModelUnavailable):
            reranker.rerank("hive", [f"hive {n}" for n in range(40)], timeout_s=1.0)
        assert 1 <= len(server.questions()) <= 5


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the models of this file's servers lie."""
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    """A server of embeddings that wants a key."""
    with running(Role.EMBED, folder, api_key=KEY) as address:
        yield address


@needs_server
class TestRealServer:
    def test_texts_that_are_too_long(self, models: Models, address: str) -> None:
        """A text beyond the server's batch is cut until it fits; its neighbours are what they were alone."""
        embedder = models.factory(ApiEmbedder, address, api_key=KEY)
        long = "the bees left the hive at noon " * 190

        vectors = embedder.embed_documents([*TEXTS, long, *TEXTS])
        alone = [embedder.embed_documents([text])[0] for text in TEXTS]

        assert vectors[:3] == vectors[4:] == alone
        beginning = embedder.embed_documents([long[:300]])[0]
        assert cosine(vectors[3], beginning) > 0.95

    def test_a_wrong_key_is_a_refusal(self, models: Models, address: str) -> None:
        """Without the right key the answer is no, at once and for good."""
        for key in (None, "sk-wrong"):
            with pytest.raises(ModelRefused, match="API key"):
                models.factory(ApiEmbedder, address, api_key=key).embed_query("hive")
        assert models.slept == []


def _serving(name: str, **meta: Any) -> Callable[[ReceivedRequest], ScriptedReply]:
    return lambda asked: listing(name, **meta) if asked.path == "/v1/models" else well_behaved(asked)


def _ranking_as(name: str, scores: list[float]) -> Callable[[ReceivedRequest], ScriptedReply]:
    results = [{"index": n, "relevance_score": score} for n, score in enumerate(scores)]
    return lambda asked: listing(name) if asked.path == "/v1/models" else said({"results": results})
