"""The ``lancedb`` backend: lexical and vector index in LanceDB tables; records stay in the vault."""

from __future__ import annotations

from clawmem.adapters.lancedb.lexical_index import LanceLexicalIndex
from clawmem.adapters.lancedb.store import store_at
from clawmem.adapters.lancedb.vector_index import LanceVectorIndex
from clawmem.ports.indexes import Backend, IndexPlace


def discard(place: IndexPlace) -> None:
    """Delete a generation of either index permanently, even if it is damaged."""
    store_at(place).discard(LanceLexicalIndex.table_name, LanceVectorIndex.table_name)


BACKEND = Backend("lancedb", lexical=LanceLexicalIndex, vectors=LanceVectorIndex, discard=discard)
