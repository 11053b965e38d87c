from __future__ import annotations

from collections.abc import Sequence

from clawmem.ports.errors import ModelUnavailable
from clawmem.ports.indexes import surfaces

MODEL = "overlap"


class OverlapReranker:
    """Reference ``Reranker`` without a model: the score is the share of the query's words in a document."""

    fingerprint = f"{MODEL}-1"
    max_document_chars = 4000

    def rerank(self, query: str, documents: Sequence[str], *, timeout_s: float) -> list[float]:
        if timeout_s <= 0:
            raise ModelUnavailable(MODEL, "no time is left")
        wanted = set(surfaces(query))
        matches = (wanted & set(surfaces(document[: self.max_document_chars])) for document in documents)
        return [len(words) / max(len(wanted), 1) for words in matches]
