"""Advice when an external index of vectors pays off."""

from __future__ import annotations

LANCEDB_FROM = 200_000  # vectors; above, a scan of the vault's own takes more than a tenth of a second


def lancedb_advice(vectors: int, backend: str) -> str:
    """Return the advice to move the indexes of a vault with this many vectors to LanceDB; empty if that is too early."""
    if vectors <= LANCEDB_FROM or backend == "lancedb":
        return ""
    return f"Above {LANCEDB_FROM // 1000} 000 vectors LanceDB answers faster. Run: clawmem rebuild --backend lancedb"
