"""Differences between providers: paths, parameter names, limits, and the layout of responses."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

from clawmem.ports.errors import ConfigError

Json = Mapping[str, Any]


class TextRole(StrEnum):
    """The role of an embedded text."""

    QUERY = "query"
    DOCUMENT = "document"


@dataclass(frozen=True, slots=True)
class Provider:
    """
    API of a model server.

    ``host_mark`` is a part of the provider's host name. It is empty for a local server, which is llama-server
    or another server with the same API.
    """

    name: str
    host_mark: str = ""
    embed_path: str = "/v1/embeddings"
    embed_model: str = ""
    embed_dimensions: int = 0  # default dimensions of that model
    texts_name: str = "input"
    dimensions_name: str = ""  # if empty, the API has no such parameter and the client truncates the vectors
    roles: Mapping[TextRole, Json] = field(default_factory=dict)
    embed_rest: Json = field(default_factory=dict)
    max_texts: int = 50  # per request
    max_request_chars: int = 200_000
    rerank_path: str = ""  # if empty, the provider does not rerank
    rerank_model: str = ""
    rerank_rest: Json = field(default_factory=dict)
    count_name: str = "top_n"
    max_documents: int = 100  # per request
    max_tokens_name: str = "max_tokens"

    @property
    def is_own_server(self) -> bool:
        """
        Whether this is a local server, which serves only the model it was started with, without roles and
        truncation.
        """
        return not self.host_mark

    def embed_body(self, texts: Sequence[str], role: TextRole, model: str, dimensions: int | None) -> Json:
        """Return the request body for the vectors of *texts*."""
        size = {self.dimensions_name: dimensions} if dimensions and self.dimensions_name else {}
        return {
            "model": model, self.texts_name: list(texts), **self.embed_rest, **self.roles.get(role, {}), **size
        }  # fmt: skip

    def rerank_body(self, query: str, documents: Sequence[str], model: str) -> Json:
        """Return the request body for the scores of all *documents*."""
        count = {self.count_name: len(documents)}
        return {"model": model, "query": query, "documents": list(documents), **count, **self.rerank_rest}


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
    roles={TextRole.QUERY: {"task": "retrieval.query"}, TextRole.DOCUMENT: {"task": "retrieval.passage"}},
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
    roles={TextRole.QUERY: {"input_type": "query"}, TextRole.DOCUMENT: {"input_type": "document"}},
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
    roles={
        TextRole.QUERY: {"input_type": "search_query"},
        TextRole.DOCUMENT: {"input_type": "search_document"},
    },
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


def embeddings_in(answer: Json) -> list[Any]:
    """
    Return the vectors of a response in the order of their texts, undecoded: lists of numbers or base64.

    Raises:
        ValueError: the response has another layout; the message names the error.
    """
    vectors = answer.get("embeddings")
    if isinstance(vectors, Mapping):
        vectors = vectors.get("float")
    if isinstance(vectors, list):
        return vectors
    return [entry.get("embedding") for entry in _in_order(answer.get("data"))]


def scores_in(answer: Json, count: int) -> list[float]:
    """
    Return the scores of *count* documents in their order, unscaled.

    Raises:
        ValueError: a score is missing, duplicate or not a number; the message names the error.
    """
    entries = _in_order(answer.get("results", answer.get("data")))
    if len(entries) != count:
        raise ValueError(f"{len(entries)} scores for {count} documents")
    scores = [entry.get("relevance_score", entry.get("score")) for entry in entries]
    if not all(_is_number(score) for score in scores):
        raise ValueError("a score is not a number")
    return [float(score) for score in scores]


def charged_tokens(answer: Json, estimated: int) -> int:
    """Return the number of tokens charged for a response; *estimated* if the response does not contain it."""
    usage, meta = answer.get("usage"), answer.get("meta")
    if isinstance(usage, Mapping):
        count = usage.get("total_tokens", usage.get("prompt_tokens"))
    else:
        billed = meta.get("billed_units") if isinstance(meta, Mapping) else None
        count = billed.get("input_tokens") if isinstance(billed, Mapping) else None
    return int(count) if _is_number(count) and count >= 0 else estimated


def _in_order(entries: Any) -> list[Json]:
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
        raise ValueError("it has an unexpected structure")
    by_place = {entry.get("index", number): entry for number, entry in enumerate(entries) if _is_place(entry)}
    if sorted(by_place) != list(range(len(entries))):
        raise ValueError("its entries are not numbered from 0 without gaps")
    return [by_place[place] for place in range(len(entries))]


def _is_place(entry: Json) -> bool:
    return type(entry.get("index", 0)) is int


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= sys.float_info.max
