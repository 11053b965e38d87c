"""What each provider of models is sent, and how its answers are read."""

from __future__ import annotations

import struct
from base64 import b64encode

import pytest
from scripted_server import (
    Models,
    ReceivedRequest,
    ScriptedReply,
    embeddings,
    floats_of,
    listing,
    message,
    said,
)

from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.models.api import ApiEmbedder, ApiGenerator, ApiReranker
from clawmem.adapters.models.server import PROVIDERS, provider_for
from clawmem.contracts.samples import floats
from clawmem.ports.errors import ConfigError

KEY = "sk-made-up-1234567890"
TEXTS = ["The bees left the hive.", "Two wooden boats.", "Income tax is due."]


def in_base64(text: str) -> str:
    """The vector of a text as providers send it."""
    numbers = floats_of(text)
    return b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()


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
    answer = embeddings([in_base64(text) for text in asked.body["input"]])
    return said({**answer, "data": answer["data"][::-1]})


ROLES = {
    "openai": ({}, {}, {"encoding_format": "base64", "dimensions": 64}),
    "jina": (
        {"task": "retrieval.query"},
        {"task": "retrieval.passage"},
        {"truncate": True, "embedding_type": "base64", "dimensions": 64},
    ),
    "voyage": (
        {"input_type": "query"},
        {"input_type": "document"},
        {"truncation": True, "encoding_format": "base64", "output_dimension": 64},
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
        embedder = models.factory(ApiEmbedder, server.url, provider=name, dimensions=64, api_key=KEY)

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
        reranker = models.factory(ApiReranker, server.url, provider=name, api_key=KEY)

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
