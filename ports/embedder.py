from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from clawmem.ports.records import Vector


class Embedder(Protocol):
    """
    Model that maps text to vectors. Deterministic: the same text gives the same bytes in every process.

    Every vector has unit length, except the vector of a text without any known token: it is all zeros, and no
    index may store it.
    """

    @property
    def fingerprint(self) -> str:
        """Return the identifier of the embedding space: model, weights and everything else that changes the vectors."""

    @property
    def dimensions(self) -> int:
        """Return the length of every vector, > 0."""

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a query."""

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector for each of *texts*, in order; empty for an empty sequence."""


def for_background(embedder: Embedder) -> Embedder:
    """
    Return the same embedder, configured for background work.

    An embedder behind a server then allows the time-out of a batch for each request, including requests for
    its metadata, and retries when the server is busy. An in-process embedder is returned unchanged.
    """
    found: Callable[[], Embedder] | None = getattr(embedder, "for_background", None)
    return embedder if found is None else found()


def is_in_process(part: object) -> bool:
    """
    Whether an index or an embedder declares itself in-process through its attribute ``in_process``.

    A part without this attribute may be a server.
    """
    return bool(getattr(part, "in_process", False))
