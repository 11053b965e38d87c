"""Model-specific prompts, selected by the name of the model, wherever it runs."""

from __future__ import annotations

from typing import NamedTuple


class Prompts(NamedTuple):
    """Prefixes for queries and for documents, and the name of this pair."""

    name: str
    query: str = ""
    document: str = ""


NONE = Prompts("plain")
# The first entry whose key is part of the model's name applies. The prefixes come from the models' own cards.
_BY_MODEL = (
    ("embeddinggemma", Prompts("gemma", "task: search result | query: ", "title: none | text: ")),
    ("embedding-gemma", Prompts("gemma", "task: search result | query: ", "title: none | text: ")),
    ("gemma-embedding", Prompts("gemma", "task: search result | query: ", "title: none | text: ")),
    (
        "qwen3-embedding",
        Prompts(
            "qwen3",
            "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:",
        ),
    ),
    ("nomic-embed", Prompts("nomic", "search_query: ", "search_document: ")),
    (
        "multilingual-e5-large-instruct",
        Prompts("e5-instruct", "Instruct: Retrieve relevant passages\nQuery: "),
    ),
    ("e5-", Prompts("e5", "query: ", "passage: ")),
    ("arctic-embed-l-v2", Prompts("arctic-2", "query: ")),
    ("arctic-embed-m-v2", Prompts("arctic-2", "query: ")),
    ("arctic-embed", Prompts("bge", "Represent this sentence for searching relevant passages: ")),
    ("mxbai-embed", Prompts("bge", "Represent this sentence for searching relevant passages: ")),
    ("bge-m3", NONE),
    ("bge-", Prompts("bge", "Represent this sentence for searching relevant passages: ")),
)
_THINKS = "qwen3"
_NO_THOUGHTS = " /no_think"  # Qwen 3's non-thinking mode; its reasoning would exceed every time-out


def prompts_of(model: str) -> Prompts:
    """Return the prompts of a model by its name; empty prompts for an unknown model."""
    folded = model.lower().replace("_", "-").replace(" ", "-")
    return next((prompts for mark, prompts in _BY_MODEL if mark in folded), NONE)


def without_thoughts(model: str, prompt: str) -> str:
    """Return *prompt* with the model's switch to skip reasoning; most models need none."""
    return prompt + _NO_THOUGHTS if _THINKS in model.lower() else prompt
