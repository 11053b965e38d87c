"""Choices about the vectors of a vault: when an external index pays off, and whose vectors are kept."""

from __future__ import annotations

LANCEDB_FROM = 200_000  # vectors; above, a scan of the vault's own takes more than a tenth of a second


def lancedb_advice(vectors: int, backend: str) -> str:
    """Return the advice to move the indexes of a vault with this many vectors to LanceDB; empty if that is too early."""
    if vectors <= LANCEDB_FROM or backend == "lancedb":
        return ""
    return f"Above {LANCEDB_FROM // 1000} 000 vectors LanceDB answers faster. Run: clawmem rebuild --backend lancedb"


def keeps_vectors(serving: str | None, building: str | None, selected: str) -> bool:
    """
    Whether a vault keeps its vectors, although ``auto`` selects another model.

    A model that is installed later replaces no vectors without ``--force``: embedding a large vault again takes long. An
    interrupted replacement continues.

    Args:
        serving: Fingerprint of the model whose vectors answer; ``None`` without vectors.
        building: Fingerprint of the model whose vectors are under construction.
        selected: Fingerprint of the best installed model.
    """
    return serving is not None and selected not in (serving, building)
