"""A vault that holds no vectors yet: every door says so in the same words, and refuses what nothing else could answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clawmem.ports.errors import EmbeddingError

if TYPE_CHECKING:
    from clawmem.app.services.retrieval.answer import Answer
    from clawmem.ports.vault import Vault

NO_VECTORS = "the vault holds no vectors yet. Run: clawmem embed"

BY_WORDS = frozenset({"search", "keyword", "timeline"})  # ways that look for nothing by meaning


def lacks_vectors(vault: Vault) -> bool:
    """Whether nothing can be found by meaning."""
    return vault.embeddings.fingerprint() is None


def refuse_lacking(vault: Vault, what: str) -> None:
    """Raises `EmbeddingError` when nothing can be *what*, found or compared, by meaning."""
    if lacks_vectors(vault):
        raise EmbeddingError(f"Nothing can be {what} by meaning: {NO_VECTORS}")


def note_lacking(vault: Vault, verb: str, answer: Answer) -> None:
    """Say in the trace of *answer*, which *verb* gave, that meaning could not be taken into account."""
    if getattr(answer, "mode", verb) not in BY_WORDS and lacks_vectors(vault):
        answer.trace.degraded["vector"] = NO_VECTORS
