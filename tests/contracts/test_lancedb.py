from __future__ import annotations

from typing import Any

from index_vaults import LexicalSuites, OverIndex, VectorSuites

from clawmem.adapters.lancedb.lexical_index import LanceLexicalIndex
from clawmem.adapters.lancedb.vector_index import LanceVectorIndex
from clawmem.contracts.base import Contract
from clawmem.contracts.derived_index import LexicalCommitContract, VectorCommitContract
from clawmem.ports.backend import ALL, IndexPlace


class LexicalInFolder(OverIndex):
    def opened(self, place: IndexPlace) -> dict[str, Any]:
        return {"lexical": LanceLexicalIndex(place)}


class LexicalByEngine(OverIndex):
    """The same by the engine's own index, from the first entry on."""

    def opened(self, place: IndexPlace) -> dict[str, Any]:
        return {"lexical": LanceLexicalIndex(place, exact_below=0)}


class VectorsInFolder(OverIndex):
    def opened(self, place: IndexPlace) -> dict[str, Any]:
        return {"vectors": LanceVectorIndex(place)}


class VectorsByPartitions(OverIndex):
    """The same by the inverted file, from the first vector on: exact, while all partitions are looked into."""

    def opened(self, place: IndexPlace) -> dict[str, Any]:
        return {"vectors": LanceVectorIndex(place, exact_below=1)}


class TestLexical(LexicalInFolder, LexicalSuites): ...


class TestLexicalCommit(LexicalInFolder, LexicalCommitContract): ...


class TestLexicalByEngine(LexicalByEngine, LexicalSuites): ...


class TestVectors(VectorsInFolder, VectorSuites): ...


class TestVectorCommit(VectorsInFolder, VectorCommitContract): ...


class TestVectorsByPartitions(VectorsByPartitions, VectorSuites): ...


class TestVectorCommitByPartitions(VectorsByPartitions, VectorCommitContract): ...


def test_nothing_is_lacking() -> None:
    """In every suite the backend promises everything, prefixes included."""
    kinds = [LexicalInFolder, LexicalByEngine, VectorsInFolder, VectorsByPartitions]
    suites = [suite for kind in kinds for suite in kind.__subclasses__() if issubclass(suite, Contract)]

    assert len(suites) == 7
    assert {suite.capabilities for suite in suites} == {ALL}
