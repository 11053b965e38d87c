from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from clawmem.adapters.lancedb.lexical_index import LanceLexicalIndex
from clawmem.adapters.lancedb.vector_index import LanceVectorIndex
from clawmem.adapters.sqlite.vault import SqliteVault
from clawmem.contracts.assembled import AssembledVault
from clawmem.contracts.base import Contract
from clawmem.contracts.derived_index import LexicalCommitContract, VectorCommitContract
from clawmem.contracts.lexical_index import LexicalMatchingContract
from clawmem.contracts.lexical_ranking import LexicalRankingContract, LexicalScopeContract
from clawmem.contracts.lexical_upkeep import LexicalUpkeepContract
from clawmem.contracts.vector_index import VectorSearchContract, VectorUpkeepContract
from clawmem.ports.backend import IndexPlace
from clawmem.ports.capability import ALL
from clawmem.ports.vault import Vault


class InFolder:
    """What the suites are supplied with: records in memory, the index in a folder of its own for every test."""

    capabilities = ALL

    @pytest.fixture
    def opened(self, tmp_path: Path) -> Iterator[Callable[[], Vault]]:
        made: list[Vault] = []

        def opened() -> Vault:
            made.append(self.assembled(tmp_path))
            return made[-1]

        yield opened
        for vault in made:
            vault.close()

    @pytest.fixture
    def vault(self, opened: Callable[[], Vault]) -> Vault:
        return opened()

    @pytest.fixture
    def reopen(self, opened: Callable[[], Vault]) -> Callable[[], Vault]:
        return opened

    def assembled(self, folder: Path) -> Vault:
        """A vault whose index lies in *folder*."""
        raise NotImplementedError


class LexicalInFolder(InFolder):
    def assembled(self, folder: Path) -> Vault:
        return AssembledVault(
            SqliteVault(":memory:"), lexical=LanceLexicalIndex(IndexPlace(str(folder), "lexical-1"))
        )


class LexicalByEngine(InFolder):
    """The same by the engine's own index, from the first entry on."""

    def assembled(self, folder: Path) -> Vault:
        index = LanceLexicalIndex(IndexPlace(str(folder), "lexical-1"), exact_below=0)
        return AssembledVault(SqliteVault(":memory:"), lexical=index)


class VectorsInFolder(InFolder):
    def assembled(self, folder: Path) -> Vault:
        return AssembledVault(
            SqliteVault(":memory:"), vectors=LanceVectorIndex(IndexPlace(str(folder), "vectors-1"))
        )


class VectorsByPartitions(InFolder):
    """The same by the inverted file, from the first vector on: exact, while all partitions are looked into."""

    def assembled(self, folder: Path) -> Vault:
        index = LanceVectorIndex(IndexPlace(str(folder), "vectors-1"), exact_below=1)
        return AssembledVault(SqliteVault(":memory:"), vectors=index)


class TestLexicalMatching(LexicalInFolder, LexicalMatchingContract): ...


class TestLexicalRanking(LexicalInFolder, LexicalRankingContract): ...


class TestLexicalScope(LexicalInFolder, LexicalScopeContract): ...


class TestLexicalUpkeep(LexicalInFolder, LexicalUpkeepContract): ...


class TestLexicalCommit(LexicalInFolder, LexicalCommitContract): ...


class TestLexicalMatchingByEngine(LexicalByEngine, LexicalMatchingContract): ...


class TestLexicalRankingByEngine(LexicalByEngine, LexicalRankingContract): ...


class TestLexicalScopeByEngine(LexicalByEngine, LexicalScopeContract): ...


class TestLexicalUpkeepByEngine(LexicalByEngine, LexicalUpkeepContract): ...


class TestVectorSearch(VectorsInFolder, VectorSearchContract): ...


class TestVectorUpkeep(VectorsInFolder, VectorUpkeepContract): ...


class TestVectorCommit(VectorsInFolder, VectorCommitContract): ...


class TestVectorSearchByPartitions(VectorsByPartitions, VectorSearchContract): ...


class TestVectorUpkeepByPartitions(VectorsByPartitions, VectorUpkeepContract): ...


class TestVectorCommitByPartitions(VectorsByPartitions, VectorCommitContract): ...


def test_nothing_is_lacking() -> None:
    """In every suite the backend promises everything, prefixes included."""
    kinds = [LexicalInFolder, LexicalByEngine, VectorsInFolder, VectorsByPartitions]
    suites = [suite for kind in kinds for suite in kind.__subclasses__() if issubclass(suite, Contract)]

    assert len(suites) == 15
    assert {suite.capabilities for suite in suites} == {ALL}
