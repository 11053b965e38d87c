from __future__ import annotations

from typing import Any

from index_vaults import OverIndex, VectorSuites

from clawmem.adapters.lancedb.lexical_index import LanceLexicalIndex
from clawmem.adapters.lancedb.vector_index import LanceVectorIndex
from clawmem.contracts.base import ALL, Capability
from clawmem.contracts.derived_index import LexicalCommitContract, VectorCommitContract
from clawmem.contracts.lexical_index import LexicalContract
from clawmem.ports.indexes import IndexPlace


class LexicalInFolder(OverIndex):
    capabilities = ALL - {Capability.BM25}  # LanceDB's scores count removed entries until a merge

    def opened(self, place: IndexPlace) -> dict[str, Any]:
        return {"lexical": LanceLexicalIndex(place)}


class VectorsInFolder(OverIndex):
    def opened(self, place: IndexPlace) -> dict[str, Any]:
        return {"vectors": LanceVectorIndex(place)}


class Partitioned(LanceVectorIndex):
    """Vectors in an inverted file from the first one on: exact while all partitions are searched."""

    exact_below = 1


class VectorsByPartitions(OverIndex):
    def opened(self, place: IndexPlace) -> dict[str, Any]:
        return {"vectors": Partitioned(place)}


class TestLexical(LexicalInFolder, LexicalContract): ...


class TestLexicalCommit(LexicalInFolder, LexicalCommitContract): ...


class TestVectors(VectorsInFolder, VectorSuites): ...


class TestVectorCommit(VectorsInFolder, VectorCommitContract): ...


class TestVectorsByPartitions(VectorsByPartitions, VectorSuites): ...


class TestVectorCommitByPartitions(VectorsByPartitions, VectorCommitContract): ...
