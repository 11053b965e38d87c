"""Vaults without vectors: common messages, and refusal of requests that only vectors could answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clawmem.ports.errors import EmbeddingError

if TYPE_CHECKING:
    from clawmem.app.services.retrieval.answer import Answer
    from clawmem.ports.vault import Vault

NO_VECTORS = "the vault holds no vectors yet. Run: clawmem embed"

BY_WORDS = frozenset({"search", "keyword", "timeline"})  # modes that need no vectors


def lacks_vectors(vault: Vault) -> bool:
    """Whether the vault has no vectors."""
    return vault.embeddings.fingerprint() is None


def require_vectors(vault: Vault, what: str) -> None:
    """Raise `EmbeddingError` if the vault has no vectors; *what* (found, compared) completes the message."""
    if lacks_vectors(vault):
        raise EmbeddingError(f"Nothing can be {what} by meaning: {NO_VECTORS}")


def report_missing_vectors(vault: Vault, verb: str, answer: Answer) -> None:
    """Report missing vectors in the trace of *answer*, unless *verb* needs none."""
    if getattr(answer, "mode", verb) in BY_WORDS or answer.trace.hits.get("vector"):
        return
    if lacks_vectors(vault):
        answer.trace.degraded["vector"] = NO_VECTORS
