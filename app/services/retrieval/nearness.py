"""Similarity of single documents to a question."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from operator import mul

from clawmem.ports.embedder import Embedder
from clawmem.ports.records import FragmentKey, Vector
from clawmem.ports.vault import Vault


class CachedQueryEmbedder:
    """``Embedder`` that caches its last query vector, so that a server is not asked twice for it."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._last: tuple[str, Vector] | None = None

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the wrapped embedder."""
        return self._embedder.fingerprint

    @property
    def dimensions(self) -> int:
        """The dimensions of the wrapped embedder."""
        return self._embedder.dimensions

    def embed_query(self, text: str) -> Vector:
        """Return the vector of *text*, cached if *text* is the last query."""
        last = self._last
        if last is None or last[0] != text:
            last = self._last = (text, self._embedder.embed_query(text))
        return last[1]

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Return the vectors of the wrapped embedder."""
        return self._embedder.embed_documents(texts)


class QuestionSimilarity:
    """
    The fragment of each document nearest to one question, and its cosine.

    Without a *question* vector, every document has cosine 0 at its first fragment.
    """

    def __init__(self, vault: Vault, question: Vector | None) -> None:
        self._vault = vault
        self._question = array("f", question or b"")
        self._known: dict[int, tuple[float, FragmentKey]] = {}

    def cosine(self, document_id: int) -> float:
        """Return the cosine in [-1, 1]; 0 for a document without vectors."""
        return self._nearest(document_id)[0]

    def fragment(self, document_id: int) -> FragmentKey:
        """Return the nearest fragment, or the first one of a document without vectors."""
        return self._nearest(document_id)[1]

    def _nearest(self, document_id: int) -> tuple[float, FragmentKey]:
        if document_id not in self._known:
            self._known[document_id] = self._looked_up(document_id)
        return self._known[document_id]

    def _looked_up(self, document_id: int) -> tuple[float, FragmentKey]:
        entries = self._vault.embeddings.of_document(document_id) if self._question else ()
        near = ((self._product(entry.vector), entry.key) for entry in entries)
        return max(near, key=lambda one: (one[0], -one[1].seq), default=(0.0, FragmentKey(document_id, 0)))

    def _product(self, vector: Vector) -> float:
        return math.fsum(map(mul, self._question, array("f", vector)))
