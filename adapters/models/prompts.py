"""Model-specific prompts, selected by the name of the model, wherever it runs."""

from typing import NamedTuple


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


def without_thoughts(model: str, prompt: str) -> str:
    """Return *prompt* with the switch of Qwen 3 to skip reasoning, which would exceed every time-out."""
    return f"{prompt} /no_think" if "qwen3" in model.lower() else prompt
