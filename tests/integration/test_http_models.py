"""Model servers of one's own over HTTP: their models, their limits, and a real llama.cpp server."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from email.utils import formatdate
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from llama_server import Role, running
from scripted_server import (
    Models,
    ReceivedRequest,
    ScriptedReply,
    embeddings,
    floats_of,
    listing,
    message,
    said,
    well_behaved,
)

from clawmem.adapters.memory.clock import START_MS, ManualClock
from clawmem.adapters.models.api import SAFETY, ApiEmbedder, ApiGenerator, ApiReranker, TokenRateLimiter
from clawmem.adapters.models.server import PROVIDERS, Limits, provider_for, secrets_in, shown
from clawmem.contracts.samples import cosine, floats
from clawmem.ports.errors import ConfigError, ModelRefused, ModelUnavailable

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

        assert [[len(d) for d in body["documents"]] for body in server.questions()] == [[4500, 4], [400, 4]]
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


def _serving(name: str, **meta: Any) -> Callable[[ReceivedRequest], ScriptedReply]:
    return lambda asked: listing(name, **meta) if asked.path == "/v1/models" else well_behaved(asked)


def _ranking_as(name: str, scores: list[float]) -> Callable[[ReceivedRequest], ScriptedReply]:
    results = [{"index": n, "relevance_score": score} for n, score in enumerate(scores)]
    return lambda asked: listing(name) if asked.path == "/v1/models" else said({"results": results})


# -- What each provider of models is sent, and how its answers are read.


def as_provider(asked: ReceivedRequest) -> ScriptedReply:
    """Any of the providers, whose vectors are 64 long."""
    if asked.path == "/v2/embed":
        vectors = [[*floats_of(text)] for text in asked.body["texts"]]
        return said(
            {"id": "1", "embeddings": {"float": vectors}, "meta": {"billed_units": {"input_tokens": 3}}}
        )
    if asked.path.endswith("/rerank"):
        scores = [{"index": n, "relevance_score": n / 10} for n in range(len(asked.body["documents"]))]
        return said({"data" if "top_k" in asked.body else "results": scores[::-1]})
    answer = embeddings([[*floats_of(text)] for text in asked.body["input"]])
    return said({**answer, "data": answer["data"][::-1]})


ROLES = {
    "openai": ({}, {}, {"dimensions": 64}),
    "jina": (
        {"task": "retrieval.query"},
        {"task": "retrieval.passage"},
        {"truncate": True, "dimensions": 64},
    ),
    "voyage": (
        {"input_type": "query"},
        {"input_type": "document"},
        {"truncation": True, "output_dimension": 64},
    ),
    "cohere": (
        {"input_type": "search_query"},
        {"input_type": "search_document"},
        {"truncate": "END", "embedding_types": ["float"], "output_dimension": 64},
    ),
}


class TestProviders:
    @pytest.mark.parametrize("name", ROLES)
    def test_embeddings(self, models: Models, name: str) -> None:
        """A provider is sent its own names for texts, roles, lengths and truncation, and read in its own form."""
        server = models.serve(as_provider)
        embedder = models.factory(
            ApiEmbedder, server.url, provider=PROVIDERS[name], dimensions=64, api_key=KEY
        )

        question, documents = embedder.embed_query("hive"), embedder.embed_documents(TEXTS)

        for_query, for_documents, rest = ROLES[name]
        model = PROVIDERS[name].embed_model
        texts = PROVIDERS[name].texts_name
        assert server.questions() == [
            {"model": model, texts: ["hive"], **for_query, **rest},
            {"model": model, texts: TEXTS, **for_documents, **rest},
        ]
        assert [one.path for one in server.asked] == [PROVIDERS[name].embed_path] * 2
        assert {one.headers["authorization"] for one in server.asked} == {f"Bearer {KEY}"}
        assert [floats(v) for v in (question, *documents)] == [
            pytest.approx(floats_of(text), abs=1e-6) for text in ("hive", *TEXTS)
        ]
        assert embedder.fingerprint == f"{name}:{model}:plain:64"

    @pytest.mark.parametrize(
        ("name", "count", "path"),
        [
            ("jina", "top_n", "/v1/rerank"),
            ("voyage", "top_k", "/v1/rerank"),
            ("cohere", "top_n", "/v2/rerank"),
        ],
    )
    def test_reranking(self, models: Models, name: str, count: str, path: str) -> None:
        """A provider scores all documents under its own names, and its scores are taken as they are."""
        server = models.serve(as_provider)
        reranker = models.factory(ApiReranker, server.url, provider=PROVIDERS[name], api_key=KEY)

        assert reranker.rerank("hive", TEXTS, timeout_s=5) == [0.0, 0.1, 0.2]
        (asked,) = server.asked
        assert asked.path == path
        assert asked.body[count] == 3
        assert asked.body["documents"] == TEXTS

    def test_openai_does_not_rerank(self, clock: ManualClock) -> None:
        """A provider that lacks something is refused when it is chosen, not when it is asked."""
        with pytest.raises(ConfigError, match="does not rerank"):
            ApiReranker.at("https://api.openai.com", clock)

    @pytest.mark.parametrize(("served", "suffix"), [("Qwen3-1.7B-Q4.gguf", " /no_think"), ("lfm2.gguf", "")])
    def test_chat_of_a_server_of_ones_own(self, models: Models, served: str, suffix: str) -> None:
        """Thoughts are switched off in the way of the model that is served, whatever it was asked for as."""
        server = models.serve(
            lambda asked: listing(served) if asked.path == "/v1/models" else said(message("ok"))
        )
        generator = models.factory(ApiGenerator, server.url)

        assert generator.generate("Why?", timeout_s=5, max_tokens=9) == "ok"
        (body,) = server.questions()
        assert body["messages"] == [{"role": "user", "content": f"Why?{suffix}"}]
        assert (body["max_tokens"], body["chat_template_kwargs"]) == (9, {"enable_thinking": False})
        assert generator.fingerprint == f"llama-server:{served}@{server.url}"

    @pytest.mark.parametrize(
        ("url", "name"),
        [
            ("https://api.openai.com/v1", "openai"),
            ("https://api.jina.ai", "jina"),
            ("https://api.voyageai.com/v1/embeddings", "voyage"),
            ("https://api.cohere.com", "cohere"),
            ("http://localhost:8088", "llama-server"),
            ("http://gpu.example/openai.com/", "llama-server"),
            ("https://openai.example", "llama-server"),
        ],
    )
    def test_the_host_names_the_provider(self, url: str, name: str) -> None:
        """A provider is known by its host alone; everything else is a server of one's own."""
        assert provider_for(url).name == name


# -- How a model server is paced, asked again, and left alone.


class TestAskingAgain:
    def test_what_passes_is_asked_again(self, models: Models) -> None:
        """Errors that pass are waited for, twice as long every time, and the answer counts."""
        server = models.serve(_failing(3, ScriptedReply(b"", 503)))

        assert models.connect(server.url).post("/v1/x", {}, Limits(60)) == {"ok": True}
        assert models.slept == [pytest.approx(wait + 1 / 8, abs=1 / 8) for wait in (1, 2, 4)]

    def test_patience_ends(self, models: Models) -> None:
        """A server is asked five times."""
        server = models.serve(_failing(99, ScriptedReply(b"", 500)))

        with pytest.raises(ModelUnavailable, match="HTTP 500"):
            models.connect(server.url).post("/v1/x", {}, Limits(600))
        assert models.slept == [pytest.approx(wait + 1 / 8, abs=1 / 8) for wait in (1, 2, 4, 8)]
        assert len(server.asked) == 5

    @pytest.mark.parametrize(
        ("headers", "wait_s"),
        [
            ({"Retry-After": "7"}, 7),
            ({"Retry-After": "0"}, 0),
            ({"Retry-After": "soon"}, 1),
            ({}, 1),
            ({"Retry-After": formatdate(START_MS / 1000 + 12, usegmt=True)}, 12),
            ({"Retry-After": "Mon, 13 Nov 2023 22:13:20 GMT"}, 0),
        ],
        ids=["seconds", "none", "nonsense", "silence", "date", "past"],
    )
    def test_the_server_says_when(self, models: Models, headers: dict[str, str], wait_s: float) -> None:
        """A 429 is asked again when it says; after a second when it says nothing that can be read."""
        server = models.serve(_failing(1, ScriptedReply(b"", 429, headers)))

        assert models.connect(server.url).post("/v1/x", {}, Limits(60)) == {"ok": True}
        assert models.slept == [pytest.approx(wait_s, abs=0.25)]

    def test_a_wait_beyond_the_deadline(self, models: Models) -> None:
        """A wait that is too long ends the question at once, and nobody asks before it is over."""
        server = models.serve(_failing(1, ScriptedReply(b"", 429, {"Retry-After": "90"})))
        client = models.connect(server.url)

        with pytest.raises(ModelUnavailable, match="in 90 seconds") as caught:
            client.post("/v1/x", {}, Limits(5))
        assert (caught.value.retry_after_s, models.slept) == (90, [])
        models.clock.advance(89_999)
        with pytest.raises(ModelUnavailable):
            client.post("/v1/x", {}, Limits(5))
        assert len(server.asked) == 1
        models.clock.advance(1)
        assert client.post("/v1/x", {}, Limits(5)) == {"ok": True}

    @pytest.mark.parametrize(
        "reply",
        [
            said({"error": {"message": "no"}}, 401),
            said({"error": {"code": 501, "message": "no"}}, 501),
            ScriptedReply(b"", 307, {"Location": "https://elsewhere.example"}),
            said({"error": {"message": "in a success"}}),
        ],
    )
    def test_what_stays_is_not_asked_again(self, models: Models, reply: ScriptedReply) -> None:
        """A refusal for good is one request, and leaves the server open for other questions."""
        server = models.serve(_failing(1, reply))
        client = models.connect(server.url)

        with pytest.raises(ModelRefused):
            client.post("/v1/x", {}, Limits(60))
        assert (len(server.asked), models.slept) == (1, [])
        assert client.post("/v1/x", {}, Limits(60)) == {"ok": True}


class TestPace:
    @pytest.fixture
    def pace(self, models: Models) -> TokenRateLimiter:
        """Six thousand tokens a minute: a hundred a second."""
        return TokenRateLimiter(round(6000 / SAFETY), models.clock, models.sleep)

    def test_the_first_does_not_wait(self, pace: TokenRateLimiter, models: Models) -> None:
        """Each request waits for those before it, in proportion to their tokens."""
        for tokens in (1000, 200, 100):
            pace.wait(tokens)

        assert models.slept == pytest.approx([10, 2], rel=1e-3)

    def test_documents_are_paced_and_questions_are_not(self, models: Models) -> None:
        """Four characters count as a token; a question neither waits nor counts."""
        server = models.serve(well_behaved)
        embedder = models.embedder(
            server.url, provider=PROVIDERS["jina"], dimensions=64, tpm_limit=round(60 / SAFETY)
        )

        embedder.embed_documents(["bees and boats"])  # 4 tokens
        embedder.embed_query("hive")
        assert models.slept == []
        embedder.embed_documents(["bees"])

        assert models.slept == pytest.approx([4], rel=0.01)


def _failing(times: int, reply: ScriptedReply) -> Callable[[ReceivedRequest], ScriptedReply]:
    """First *reply*, so many times, then what is wanted."""
    left = iter(range(times))
    return lambda asked: said({"ok": True}) if next(left, None) is None else reply


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (" http://me:secret@[::1]:8088/v1 ", "http://[::1]:8088/v1"),
        ("https://token@host/v1", "https://host/v1"),
        ("https://me:se@cret@host", "https://host"),
        ("https://host/v1?api_key=secret&version=2#secret", "https://host/v1"),
        ("http://host/@org/model", "http://host/@org/model"),
        ("", ""),
    ],
)
def test_an_address_as_it_is_shown(url: str, expected: str) -> None:
    """Neither user nor password, nor what a query says."""
    assert shown(url) == expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://host:8088/v1", ()),
        ("http://host?version=2024&api_key=abcdefgh", ("abcdefgh",)),
        ("http://me@host", ()),
        ("http://me:p%40ss@host", ("bWU6cEBzcw==", "p%40ss", "p@ss")),
    ],
)
def test_the_secrets_of_an_address(url: str, expected: tuple[str, ...]) -> None:
    """The password as it is written, as it is meant and as it is sent, and whatever of a query may be a key."""
    assert secrets_in(url) == expected
