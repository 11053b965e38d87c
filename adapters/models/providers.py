"""Differences between providers: paths, parameter names, limits, and the layout of responses."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from clawmem.ports.errors import ConfigError

Json = Mapping[str, Any]
EMBED, GENERATE, RERANK = "embed", "generate", "rerank"  # roles of a model


@dataclass(frozen=True, slots=True)
class Provider:
    """
    API of a model server.

    ``host_mark`` is a part of the provider's host name. It is empty for a local server: llama-server, another server
    with the same API, or llama.cpp in this process. The ``…_rest`` are further fields of a request.
    """

    name: str
    host_mark: str = ""
    embed_path: str = "/v1/embeddings"
    embed_model: str = "embedding"
    embed_dimensions: int = 0  # default dimensions of that model
    texts_name: str = "input"
    dimensions_name: str = ""  # if empty, the API has no such parameter and the client truncates the vectors
    query_rest: Json = field(default_factory=dict)
    document_rest: Json = field(default_factory=dict)
    embed_rest: Json = field(default_factory=dict)
    max_texts: int = 50  # per request
    max_request_chars: int = 200_000
    generate_model: str = "qwen3"
    max_tokens_name: str = "max_tokens"
    rerank_path: str = ""  # if empty, the provider does not rerank
    rerank_model: str = "reranker"
    rerank_rest: Json = field(default_factory=dict)
    count_name: str = "top_n"
    max_documents: int = 100  # per request

    @property
    def is_own_server(self) -> bool:
        """Whether this is a local server, which serves only the model it was started with, and truncates no text."""
        return not self.host_mark


LLAMA_SERVER = Provider(
    "llama-server",
    embed_rest={"encoding_format": "float"},
    max_texts=8,
    rerank_path="/v1/rerank",
    max_documents=4,
)
OPENAI = Provider(
    "openai",
    host_mark="openai.com",
    embed_model="text-embedding-3-small",
    embed_dimensions=1536,
    dimensions_name="dimensions",
    embed_rest={"encoding_format": "base64"},
    max_tokens_name="max_completion_tokens",
)
JINA = Provider(
    "jina",
    host_mark="jina.ai",
    embed_model="jina-embeddings-v5-text-small",
    embed_dimensions=1024,
    dimensions_name="dimensions",
    query_rest={"task": "retrieval.query"},
    document_rest={"task": "retrieval.passage"},
    embed_rest={"truncate": True, "embedding_type": "base64"},
    rerank_path="/v1/rerank",
    rerank_model="jina-reranker-v3",
    rerank_rest={"return_documents": False},
)
VOYAGE = Provider(
    "voyage",
    host_mark="voyageai.com",
    embed_model="voyage-4-large",
    embed_dimensions=1024,
    dimensions_name="output_dimension",
    query_rest={"input_type": "query"},
    document_rest={"input_type": "document"},
    embed_rest={"truncation": True, "encoding_format": "base64"},
    # the limit is 120 000 tokens per request for the large models, and a CJK character may be one token
    max_request_chars=100_000,
    rerank_path="/v1/rerank",
    rerank_model="rerank-2.5",
    rerank_rest={"truncation": True},
    count_name="top_k",
)
COHERE = Provider(
    "cohere",
    host_mark="cohere.",
    embed_path="/v2/embed",
    embed_model="embed-v4.0",
    embed_dimensions=1024,
    texts_name="texts",
    dimensions_name="output_dimension",
    query_rest={"input_type": "search_query"},
    document_rest={"input_type": "search_document"},
    embed_rest={"truncate": "END", "embedding_types": ["float"]},
    rerank_path="/v2/rerank",
    rerank_model="rerank-v3.5",
)
PROVIDERS = {api.name: api for api in (LLAMA_SERVER, OPENAI, JINA, VOYAGE, COHERE)}


def provider_for(url: str, name: str | None = None) -> Provider:
    """
    Return the provider *name*, or the one whose host is in *url*; a local server if there is none.

    Raises:
        ConfigError: there is no provider of that name.
    """
    if name and name not in PROVIDERS:
        raise ConfigError(f"There is no provider {name!r}. Choose one of: {', '.join(PROVIDERS)}.")
    if name:
        return PROVIDERS[name]
    host = (urlsplit(url).hostname or "").lower()
    return next((api for api in PROVIDERS.values() if api.host_mark and api.host_mark in host), LLAMA_SERVER)


def server_root(url: str) -> str:
    """Return *url* without the path of an endpoint, which users often copy with the address."""
    root, mark, query = url.strip().partition("?")
    root = root.rstrip("/")
    for path in ("/embeddings", "/embed", "/chat/completions", "/rerank", "/reranking", "/v1", "/v2"):
        root = root.removesuffix(path)
    return root + mark + query


def embeddings_in(answer: Json, count: int) -> list[Any]:
    """
    Return the vectors of *count* texts in their order, undecoded: lists of numbers or base64.

    Raises:
        LookupError, TypeError, ValueError, AttributeError: the response has another structure, as in `scores_in`.
    """
    if "embeddings" in answer:
        vectors: list[Any] = answer["embeddings"]["float"]
    else:
        vectors = [entry["embedding"] for entry in _in_order(answer["data"], count)]
    if len(vectors) != count:
        raise ValueError(f"{len(vectors)} vectors for {count} texts")
    return vectors


def scores_in(answer: Json, count: int) -> list[float]:
    """Return the scores of *count* documents in their order, unscaled. Raises the errors of `embeddings_in`."""
    entries = _in_order(answer["results"] if "results" in answer else answer["data"], count)
    scores = [
        float(entry["relevance_score"] if "relevance_score" in entry else entry["score"]) for entry in entries
    ]
    if not all(map(math.isfinite, scores)):
        raise ValueError("a score is not finite")
    return scores


def _in_order(entries: list[Json], count: int) -> list[Json]:
    if len(entries) != count:
        raise ValueError(f"{len(entries)} entries instead of {count}")
    by_index = {entry["index"]: entry for entry in entries}
    return [by_index[index] for index in range(count)]
