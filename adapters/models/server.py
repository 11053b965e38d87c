"""Servers of models: addresses, providers and their answers, prompts of model families, and time limits."""

from __future__ import annotations

import math
import time
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from clawmem.ports.errors import ConfigError

Json = Mapping[str, Any]

EMBED, GENERATE, RERANK = "embed", "generate", "rerank"  # roles of a model

# -- addresses, which may contain secrets: user and password, or a key in the query -----------------------


def shown(url: str) -> str:
    """Return *url* without user, password, query and fragment, for display and storage."""
    parts = urlsplit(url.strip())
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


def secrets_in(url: str) -> tuple[str, ...]:
    """Return the secrets in *url*, in every form in which a server could repeat them, longest first."""
    parts = urlsplit(url.strip())
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    token = b64encode(f"{user}:{password}".encode()).decode() if password else ""
    keys = [value for _, value in parse_qsl(parts.query) if len(value) >= 8]  # a shorter one is no key
    return tuple(sorted({token, parts.password or "", password, *keys} - {""}, key=len, reverse=True))


def server_root(url: str) -> str:
    """Return *url* without the path of an endpoint, which users often copy with the address."""
    root, mark, query = url.strip().partition("?")
    root = root.rstrip("/")
    for path in ("/embeddings", "/embed", "/chat/completions", "/rerank", "/reranking", "/v1", "/v2"):
        root = root.removesuffix(path)
    return root + mark + query


# -- providers: paths, parameter names, limits, and the layout of responses -------------------------------


@dataclass(frozen=True, slots=True)
class Provider:
    """
    API of a model server.

    ``host_mark`` is a part of the provider's host name. It is empty for a local server: llama-server, another server
    with the same API, or llama.cpp in this process. The ``…_fields`` are further fields of a request.
    """

    name: str
    host_mark: str = ""
    embed_path: str = "/v1/embeddings"
    embed_model: str = "embedding"
    embed_dimensions: int = 0  # default dimensions of that model
    texts_name: str = "input"
    dimensions_name: str = ""  # if empty, the API has no such parameter and the client truncates the vectors
    query_fields: Json = field(default_factory=dict)
    document_fields: Json = field(default_factory=dict)
    embed_fields: Json = field(default_factory=dict)
    max_texts: int = 50  # per request
    generate_model: str = "qwen3"
    max_tokens_name: str = "max_tokens"
    rerank_path: str = ""  # if empty, the provider does not rerank
    rerank_model: str = "reranker"
    rerank_fields: Json = field(default_factory=dict)
    count_name: str = "top_n"
    max_documents: int = 100  # per request

    @property
    def is_own_server(self) -> bool:
        """Whether this is a local server, which serves only the model it was started with, and truncates no text."""
        return not self.host_mark


LLAMA_SERVER = Provider(
    "llama-server", embed_fields={"encoding_format": "float"}, max_texts=8,
    rerank_path="/v1/rerank", max_documents=4,
)  # fmt: skip
_OTHERS = (
    Provider(
        "openai", "openai.com", embed_model="text-embedding-3-small", embed_dimensions=1536,
        dimensions_name="dimensions",
        max_tokens_name="max_completion_tokens",
    ),
    Provider(
        "jina", "jina.ai", embed_model="jina-embeddings-v5-text-small", embed_dimensions=1024,
        dimensions_name="dimensions", query_fields={"task": "retrieval.query"},
        document_fields={"task": "retrieval.passage"},
        embed_fields={"truncate": True},
        rerank_path="/v1/rerank", rerank_model="jina-reranker-v3", rerank_fields={"return_documents": False},
    ),
    Provider(
        "voyage", "voyageai.com", embed_model="voyage-4-large", embed_dimensions=1024,
        dimensions_name="output_dimension", query_fields={"input_type": "query"},
        document_fields={"input_type": "document"},
        embed_fields={"truncation": True},
        max_texts=25,  # of at most 120 000 tokens together, and a CJK character may be one token
        rerank_path="/v1/rerank", rerank_model="rerank-2.5", rerank_fields={"truncation": True},
        count_name="top_k",
    ),
    Provider(
        "cohere", "cohere.", "/v2/embed", "embed-v4.0", 1024, "texts",
        dimensions_name="output_dimension", query_fields={"input_type": "search_query"},
        document_fields={"input_type": "search_document"},
        embed_fields={"truncate": "END", "embedding_types": ["float"]},
        rerank_path="/v2/rerank", rerank_model="rerank-v3.5",
    ),
)  # fmt: skip
PROVIDERS = {provider.name: provider for provider in (LLAMA_SERVER, *_OTHERS)}


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
    return next((provider for provider in _OTHERS if provider.host_mark in host), LLAMA_SERVER)


def embeddings_in(answer: Json, count: int) -> list[Any]:
    """
    Return the vectors of *count* texts in their order, as they are in the response.

    Raises:
        LookupError, TypeError, ValueError, AttributeError: the response has another structure, as in `scores_in`.
    """
    if "embeddings" not in answer:
        return [entry["embedding"] for entry in _in_order(answer["data"], count)]
    vectors: list[Any] = answer["embeddings"]["float"]
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
    by_index = {entry["index"]: entry for entry in entries}
    if len(entries) != count:
        raise ValueError(f"{len(entries)} entries instead of {count}")
    return [by_index[index] for index in range(count)]


# -- prompts, selected by the name of the model, wherever it runs -----------------------------------------


class Prompts(NamedTuple):
    """Prefixes for queries and for documents, and the name of this pair."""

    name: str
    query: str = ""
    document: str = ""


NO_PROMPTS = Prompts("plain")
_GEMMA = Prompts("gemma", "task: search result | query: ", "title: none | text: ")
_BGE = Prompts("bge", "Represent this sentence for searching relevant passages: ")
_QWEN = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
# The first entry whose key is part of the model's name applies. The prefixes come from the models' own cards.
_PROMPTS = {
    "embeddinggemma": _GEMMA,
    "embedding-gemma": _GEMMA,
    "gemma-embedding": _GEMMA,
    "qwen3-embedding": Prompts("qwen3", _QWEN),
    "nomic-embed": Prompts("nomic", "search_query: ", "search_document: "),
    "multilingual-e5-large-instruct": Prompts("e5-instruct", "Instruct: Retrieve relevant passages\nQuery: "),
    "e5-": Prompts("e5", "query: ", "passage: "),
    "arctic-embed-l-v2": Prompts("arctic-2", "query: "),
    "arctic-embed-m-v2": Prompts("arctic-2", "query: "),
    "arctic-embed": _BGE,
    "mxbai-embed": _BGE,
    "bge-m3": NO_PROMPTS,
    "bge-": _BGE,
}


def prompts_of(model: str) -> Prompts:
    """Return the prompts of a model by its name; empty prompts for an unknown model."""
    folded = model.lower().replace("_", "-").replace(" ", "-")
    return next((prompts for mark, prompts in _PROMPTS.items() if mark in folded), NO_PROMPTS)


# -- requests ---------------------------------------------------------------------------------------------


class ModelIdentity(NamedTuple):
    """
    Identity of the served model.

    ``weights`` is a hash that differs when the weights differ, empty if unknown; ``family`` the text by which prompts
    are selected, and ``dimensions`` the length of its vectors, 0 if it must be measured.
    """

    name: str
    weights: str
    family: str
    dimensions: int = 0

    def __str__(self) -> str:
        return ":".join(filter(None, (self.name, self.weights)))


class Limits:
    """
    Time for one piece of work, which may need several requests; it starts now.

    While a caller waits for the result, *timeout_s* covers all attempts and waits. In *background* work each
    request has the full timeout, and a server may ask for waits of up to five minutes.
    """

    def __init__(self, timeout_s: float, *, background: bool = False) -> None:
        self.background = background
        self.timeout_s = timeout_s
        self._until = time.monotonic() + timeout_s

    def left_s(self) -> float:
        """Return the seconds that the next request may take; zero or negative when the time is over."""
        return self.timeout_s if self.background else self._until - time.monotonic()
