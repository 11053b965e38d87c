from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from clawmem.ports.records import Vector


class Embedder(Protocol):
    """
    Text to vectors. Deterministic: the same text gives the same bytes in every process.

    Every vector is unit length, except that of a text without a single known token: all zeros, which no
    index may store.
    """

    @property
    def fingerprint(self) -> str:
        """Names the vector space: model, weights and whatever else changes the numbers."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of every vector, > 0."""
        ...

    def embed_query(self, text: str) -> Vector:
        """The vector of a question."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """The vectors of *texts*, in their order, one each; empty for an empty sequence."""
        ...


def unhurried(embedder: Embedder) -> Embedder:
    """
    The same embedder for work that nobody waits for.

    One behind a server then gives each of its answers, what it says of itself included, the time of a batch,
    and asks again when the server is busy. One in this process is as it is.
    """
    found: Callable[[], Embedder] | None = getattr(embedder, "unhurried", None)
    return embedder if found is None else found()
