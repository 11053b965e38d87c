from __future__ import annotations

import pytest

from clawmem.domain.maintenance.embedding_policy import LANCEDB_FROM, lancedb_advice


@pytest.mark.parametrize(
    ("vectors", "backend", "wanted"),
    [
        (0, "sqlite", False),
        (LANCEDB_FROM, "sqlite", False),
        (LANCEDB_FROM + 1, "sqlite", True),
        (LANCEDB_FROM + 1, "tantivy", True),
        (10 * LANCEDB_FROM, "lancedb", False),
    ],
)
def test_lancedb_is_recommended_for_many_vectors(vectors: int, backend: str, wanted: bool) -> None:
    """Above the bound, every backend whose vectors are in the vault is advised to move them."""
    assert bool(lancedb_advice(vectors, backend)) is wanted
