"""The ``lancedb`` backend: lexical and vector index in LanceDB tables; records stay in the vault."""

from __future__ import annotations

from clawmem.ports.backend import Backend, IndexPlace
from clawmem.ports.lexical_index import LexicalIndex
from clawmem.ports.vector_index import VectorIndex


def open_lexical(place: IndexPlace) -> LexicalIndex:
    """Open the lexical index at *place*; see `clawmem.ports.backend.Backend`."""
    from clawmem.adapters.lancedb.lexical_index import LanceLexicalIndex

    return LanceLexicalIndex(place)


def open_vectors(place: IndexPlace) -> VectorIndex:
    """Open the vector index at *place*; see `clawmem.ports.backend.Backend`."""
    from clawmem.adapters.lancedb.vector_index import LanceVectorIndex

    return LanceVectorIndex(place)


def discard(place: IndexPlace) -> None:
    """Delete a generation of either index permanently, even if it is damaged."""
    from clawmem.adapters.lancedb.lexical_index import LanceLexicalIndex
    from clawmem.adapters.lancedb.store import store_of
    from clawmem.adapters.lancedb.vector_index import LanceVectorIndex

    store_of(place).discard((LanceLexicalIndex.table_name, LanceVectorIndex.table_name))


BACKEND = Backend("lancedb", lexical=open_lexical, vectors=open_vectors, discard=discard)
